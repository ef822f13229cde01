import type { CommandDefinition } from '../command.ts';
import { agentServeEnvCommand } from './agent-serve-env.ts';
import { dataExportCommand } from './data-export.ts';
import { dataImportCommand } from './data-import.ts';
import { dataInspectCommand } from './data-inspect.ts';
import { dataSplitCommand } from './data-split.ts';
import { dataSynthCommand } from './data-synth.ts';
import { dataValidateCommand } from './data-validate.ts';
import { demoCommand } from './demo.ts';
import { distillCommand } from './distill.ts';
import { evalCompareCommand } from './eval-compare.ts';
import { evalCorrelateCommand } from './eval-correlate.ts';
import { evalDescriptionsCommand } from './eval-descriptions.ts';
import { evalReportCommand } from './eval-report.ts';
import { evalRunCommand } from './eval-run.ts';
import { mcpCommand } from './mcp.ts';
import { modelConvertCommand } from './model-convert.ts';
import { modelExportCommand } from './model-export.ts';
import { modelInspectCommand } from './model-inspect.ts';
import { modelMergeCommand } from './model-merge.ts';
import { planCommand } from './plan.ts';
import { scoreCommand } from './score.ts';
import { serveCommand } from './serve.ts';
import { trainBaseCommand } from './train-base.ts';
import { trainColdStartCommand } from './train-cold-start.ts';
import { trainGrpoCommand } from './train-grpo.ts';
import { versionCommand } from './version.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandDefinition[] = [
  demoCommand,
  dataSynthCommand,
  dataImportCommand,
  dataInspectCommand,
  dataExportCommand,
  dataValidateCommand,
  dataSplitCommand,
  distillCommand,
  planCommand,
  trainBaseCommand,
  trainColdStartCommand,
  trainGrpoCommand,
  evalRunCommand,
  evalCorrelateCommand,
  evalCompareCommand,
  evalDescriptionsCommand,
  evalReportCommand,
  modelInspectCommand,
  modelConvertCommand,
  modelMergeCommand,
  modelExportCommand,
  scoreCommand,
  mcpCommand,
  serveCommand,
  agentServeEnvCommand,
  versionCommand,
];
