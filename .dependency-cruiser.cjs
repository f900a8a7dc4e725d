/** For the folders that join the parts. */
const EVERYTHING = null;

/**
 * The import table: which folder of src/ may import which. A folder may always import itself.
 * A new folder needs a row here; scripts/check-imports.mjs fails on a folder without one.
 */
const MAY_IMPORT = {
  base: [],
  domain: ['base'],
  gate: ['base', 'domain'],
  config: ['base', 'domain', 'gate'],
  observe: ['base', 'domain'],
  stages: ['base', 'domain', 'gate', 'observe/redact/question-masks.ts'],
  'start-permit.ts': ['base', 'domain', 'stages'],
  'data-path.ts': ['base', 'domain', 'stages', 'start-permit.ts'],
  modules: ['base', 'domain', 'stages/accept'],
  upstreams: ['base', 'domain', 'modules', 'observe', 'worker'],
  stores: ['base', 'domain', 'observe'],
  audit: ['base', 'domain', 'stores/sqlite'],
  worker: [
    'base',
    'domain',
    'gate',
    'observe',
    'modules',
    'stages',
    'data-path.ts',
    // One SQLite binding and one Redis client in the whole house: the services of a worker use those of the stores.
    'stores/sqlite',
    'stores/redis/connection.ts',
    'stores/redis/redis-options.ts',
  ],
  client: [
    'base',
    'domain',
    'gate/approvals',
    'gate/loop',
    'gate/wrap/run-memory.ts',
    'stages/accept',
    'stages/answer',
  ],
  gateway: ['base', 'domain', 'gate/approvals', 'config', 'observe', 'modules', 'client'],
  operate: [
    'base',
    'domain',
    'gate',
    'config',
    'observe',
    'stages/accept',
    'modules',
    'upstreams/pins',
    'stores',
    'audit',
    'client',
    'worker/services',
    'gateway/operations.ts',
  ],
  compose: EVERYTHING,
  cli: EVERYTHING,
  exports: EVERYTHING,
};

/** Folders without I/O: they import no package, and only those node: modules that compute. */
const PURE = ['domain'];
const COMPUTING = '^(?:node:)?(?:url|crypto|util)$';

const TESTS = '\\.test\\.ts$';

const place = (name) => (name.endsWith('.ts') ? `^src/${name.replace('.', '\\.')}$` : `^src/${name}/`);

const tableRules = Object.entries(MAY_IMPORT)
  .filter(([, allowed]) => allowed !== EVERYTHING)
  .map(([name, allowed]) => ({
    name: `table-${name}`,
    comment: `src/${name} may import only itself${allowed.length > 0 ? `, ${allowed.join(', ')}` : ''}${PURE.includes(name) ? '; no packages, no node: modules but url, crypto and util' : ''}.`,
    severity: 'error',
    from: { path: place(name), pathNot: TESTS },
    to: {
      ...(PURE.includes(name) ? {} : { path: '^src/' }),
      pathNot: [...[name, ...allowed].map(place), ...(PURE.includes(name) ? [COMPUTING] : [])],
    },
  }));

module.exports = {
  forbidden: [
    ...tableRules,
    {
      name: 'stage-imports-no-other-stage',
      comment: 'Stages meet in src/data-path.ts and src/start-permit.ts only.',
      severity: 'error',
      from: { path: '^src/stages/([^/]+)/' },
      to: { path: '^src/stages/', pathNot: '^src/stages/$1/' },
    },
    {
      name: 'client-reaches-no-tool-code',
      comment: 'A caller must never load the worker, a runner or a tool.',
      severity: 'error',
      from: { path: '^src/(exports/client\\.ts$|client/)', pathNot: TESTS },
      to: { path: '^(src/worker/|examples/)', reachable: true },
    },
    {
      name: 'examples-use-the-package',
      comment: 'Examples, benches and chaos import the package by name, as a user would.',
      severity: 'error',
      from: { path: '^(examples|bench|chaos)/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/exports/' },
    },
    {
      name: 'src-imports-only-src',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { path: `^(test|bench|chaos|examples|scripts|dist)/|${TESTS}` },
    },
    {
      name: 'console-speaks-http',
      comment: 'The console knows the types of the API, the words of the domain, and nothing else of the package.',
      severity: 'error',
      from: { path: '^console/' },
      to: {
        path: '^(src|test|dist)/',
        pathNot: '^src/domain/(outcome/outcome|audit/audit-record|call/call-filter|policy/approval)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'nobody-imports-the-console',
      severity: 'error',
      from: { pathNot: '^console/' },
      to: { path: '^console/' },
    },
    {
      name: 'no-cycle',
      comment: 'Type-only cycles count: two files which need each other are one file, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-dependencies',
      // What is bundled is a development dependency; test/deploy/package.test.ts checks the rest.
      comment: 'What src imports must be listed in package.json.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: '^(node_modules|dist)/' },
    // Type-only imports count as imports.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};

// Not an option of dependency-cruiser: read by scripts/check-imports.mjs.
Object.defineProperty(module.exports, 'MAY_IMPORT', { value: MAY_IMPORT, enumerable: false });
