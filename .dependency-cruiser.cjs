// The rooms of src/, lowest first. A room imports only strictly lower rooms, and only through their index.ts.
const levels = [
  ['core'],
  ['metrics', 'formats', 'engine', 'remote'],
  ['model', 'data', 'rl'],
  ['env', 'teacher', 'scoring'],
  ['train', 'evaluate'],
  ['server'],
  ['cli'],
];
const room = (names) => `^src/(${names.join('|')})/`;
const layering = levels.flatMap((names, level) => {
  const higherOrEqual = levels.slice(level).flat();
  return names.map((name) => ({
    name: `${name}-imports-only-lower-rooms`,
    severity: 'error',
    from: { path: `^src/${name}/` },
    to: { path: room(higherOrEqual), pathNot: `^src/${name}/` },
  }));
});
// evaluate reaches the models it measures only through scoring, which sits below it.
const bans = [
  { name: 'rl-knows-no-images', from: '^src/rl/', to: '^src/(model|data|env)/' },
  { name: 'scoring-never-trains', from: '^src/scoring/', to: '^src/(train|rl|teacher)/' },
  { name: 'env-knows-no-model', from: '^src/env/', to: '^src/(model|rl|train)/' },
].map(({ name, from, to }) => ({ name, severity: 'error', from: { path: from }, to: { path: to } }));

module.exports = {
  forbidden: [
    ...layering,
    ...bans,
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'rooms-through-their-index',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.+', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'only-engine-imports-tensor-libraries',
      severity: 'error',
      from: { path: '^(src|eval)/', pathNot: '^src/engine/' },
      to: { path: 'node_modules/(@tensorflow|onnxruntime|onnx-proto)' },
    },
    {
      name: 'only-remote-imports-its-client',
      severity: 'error',
      from: { path: '^(src|eval)/', pathNot: '^src/remote/' },
      to: { path: 'node_modules/openai' },
    },
    {
      name: 'only-cli-and-scripts-use-the-terminal',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: 'node_modules/(commander|cli-progress)' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
