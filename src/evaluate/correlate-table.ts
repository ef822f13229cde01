import type { CorrelateReport } from './correlate.ts';
import { protocol, remarks, resultTable } from './correlate-cells.ts';
import { pairTable } from './correlate-pairs-table.ts';
import { alignTable, oneLine } from './tables/index.ts';

/** The report as plain text: a table per prediction column, differences, then notices and the protocol. */
export function formatCorrelation(report: CorrelateReport): string {
  const files = report.files.map(({ path }) => path).join(', ');
  const tables = report.results.flatMap((result) => [
    oneLine(`${files}: "${result.prediction}" against "${report.target}"`),
    ...alignTable(resultTable(report, result)),
    '',
  ]);
  const pairs = report.pairs.flatMap((pair) => [
    oneLine(`"${pair.b}" minus "${pair.a}", on the same rows`),
    ...alignTable(pairTable(report, pair)),
    '',
  ]);
  const notices = [...report.notices, ...remarks(report)].map(oneLine);
  const lines = protocol(report);
  const width = Math.max(...lines.map(([label]) => label.length));
  return [
    ...tables,
    ...pairs,
    ...notices.map((notice) => `note: ${notice}`),
    ...(notices.length > 0 ? [''] : []),
    ...lines.map(([label, value]) => oneLine(`${label.padEnd(width)}  ${value}`)),
  ].join('\n');
}
