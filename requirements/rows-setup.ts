import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements: the documented set-up works when it is followed word for word. */
export const ROWS_SETUP: readonly Requirement[] = [
  {
    id: 'SET1',
    says: 'With every users file that is shipped or printed, Redis loses nothing at a restart or a kill, and lets nobody in without a password.',
    tests: [
      test('test/deploy/acl-restart.test.ts', 'killed after load, and lets nobody in'),
      test('test/deploy/journey.test.ts', 'sets up Redis with its users'),
    ],
    mutants: ['default-user-without-rights', 'printed-users-leave-the-default-user-open'],
  },
  {
    id: 'SET2',
    says: 'Doctor and every start find a default user that would lose calls or lets anyone in, and say when that cannot be found out.',
    tests: [
      test('test/deploy/acl-restart.test.ts', 'is refused at every start, and found by doctor'),
      test('test/deploy/acl-restart.test.ts', 'is reported as not checked'),
      test('test/deploy/acl-restart.test.ts', 'is found by doctor, and logged by a worker'),
    ],
    mutants: ['replay-is-not-checked', 'unchecked-replay-counts-as-safe', 'open-server-goes-unnoticed'],
  },
  {
    id: 'SET3',
    says: 'Modules, hooks and services outside the package import it, in the worker and in processes; workers with services start by the documented steps.',
    tests: [
      test('test/deploy/outside-modules.test.ts', 'import sallyport from the installation'),
      test('test/deploy/acl-messages.test.ts', 'a worker with services starts'),
    ],
    mutants: ['modules-outside-find-no-package', 'adopt-forgets-the-services'],
  },
  {
    id: 'SET4',
    says: 'A refused login, a missing right, a wrong role and sentinels that lead nowhere are told apart, each with its fix; no role but the administrator reads the settings of the server.',
    tests: [
      test('test/deploy/acl-messages.test.ts', 'a wrong role, a wrong password and a missing right'),
      test('test/redis/logins.test.ts', 'is named at once with user and reason'),
      test('test/redis/logins.test.ts', 'is named in the log of a running worker'),
      test('test/redis/logins.test.ts', 'are distinguished'),
      test('test/deploy/acl-boundary.test.ts', 'administers the store only if it is'),
    ],
    mutants: ['wrong-role-starts', 'refused-login-is-an-outage', 'monitor-reads-all-settings'],
  },
  {
    id: 'SET5',
    says: 'A worker without its modules and an embedded plane on a full disk are not ready, and say so without the text of a module; doctor reports full stores, ghost tools and versions without a worker.',
    tests: [
      test('test/plane/readiness.test.ts', 'is ready only with the modules'),
      test('test/plane/readiness.test.ts', 'is not ready while the disk is full'),
      test('src/compose/module-problems.test.ts', 'name a module that was published before'),
      test('src/compose/module-problems.test.ts', 'have no text of a module'),
      test('src/operate/inspect-capacity.test.ts', 'what doctor says about'),
      ...onBothStores('lane use says what is live'),
    ],
    mutants: [
      'worker-is-ready-without-its-modules',
      'readiness-shows-the-text-of-a-module',
      'full-disk-is-ready',
      'overdue-outcomes-go-unnoticed',
    ],
  },
  {
    id: 'SET6',
    says: 'Every command of docs/deploy.md and docs/operations.md works as written, and no call is lost by a rolling restart, a restart of Redis or its kill.',
    tests: [
      test('test/deploy/journey.test.ts', 'sets up Redis with its users'),
      test('test/deploy/journey.test.ts', 'starts two workers and a gateway'),
      test('test/deploy/journey.test.ts', 'replaces every process under load'),
      test('test/deploy/journey.test.ts', 'restarts Redis under load'),
      test('test/deploy/journey.test.ts', 'makes a backup under load'),
      test('test/deploy/journey.test.ts', 'goes on after the data is gone'),
    ],
    mutants: ['default-user-without-rights'],
  },
  {
    id: 'SET7',
    says: 'After `store upgrade`, processes of the release before go on: they open runs and hold calls owed with the arguments that they know, and put no older functions back. Every change of the Lua code has a revision of its own.',
    tests: [
      test('test/redis/older-build.test.ts', 'opens runs, also more than a later build opens'),
      test('test/redis/older-build.test.ts', 'for its own requests, and beats'),
      test('test/redis/older-build.test.ts', 'what it lets go of without a lifetime'),
      test('src/stores/redis/library-revisions.test.ts', 'has a new revision with every change of its code'),
      test('src/stores/redis/library-revisions.test.ts', 'can be called by processes of every recorded revision'),
      test('test/deploy/upgrade.test.ts', 'a release that starts late does not take them back'),
    ],
    mutants: ['older-builds-lose-owed-calls', 'older-builds-open-no-runs'],
  },
  {
    id: 'SET8',
    says: 'Doctor is red when the store is missing where no process may make one, and when a role has overwritten a number of a lane: it names lane, key and field and still shows all other rows. `store adopt` writes the numbers of the lanes again.',
    tests: [
      test('test/cli/store-adopt.test.ts', 'after FLUSHALL a worker names the command'),
      test('test/cli/store-adopt.test.ts', 'numbers that a role overwrote are named by doctor'),
      test('src/operate/inspect-capacity.test.ts', 'names lane, key and field'),
      test('src/operate/inspect-capacity.test.ts', 'is a row of its own'),
    ],
    mutants: ['overwritten-numbers-go-unnoticed', 'unreadable-part-ends-doctor'],
  },
  {
    id: 'SET9',
    says: 'Tools that are published, but that no live worker serves, are named as such by catalog, explain, doctor, API and the answer to a call. An operator withdraws them, with an audit record in the same step; modules that a live worker serves are refused. `sallyport dev` withdraws what it published earlier and serves no more, and never a module that is merely broken.',
    tests: [
      test('src/domain/tool/serving.test.ts', 'expects no worker of the fleet for a module'),
      test('src/stages/identify/identify.test.ts', 'but that no live worker serves, just that'),
      test('src/operate/withdraw-modules.test.ts', 'with all others that were named'),
      test('src/operate/withdraw-modules.test.ts', 'whose worker started between'),
      test('src/operate/withdraw-left-modules.test.ts', 'keeps a module that is merely broken in this load'),
      test('src/operate/withdraw-left-modules.test.ts', 'may be any of the published ones'),
      test('test/cli/dev.test.ts', 'withdraws those that it serves no more'),
      test('test/gateway/administration.test.ts', 'shows modules that no live worker serves'),
      ...onBothStores('withdrawn modules are in the audit with who, why and which'),
      ...onBothStores('withdrawModules and writeCatalog at once let exactly one win'),
    ],
    mutants: [
      'served-modules-are-withdrawn',
      'dev-withdraws-broken-modules',
      'unserved-tools-are-unknown',
      'withdrawn-without-a-record',
    ],
  },
  {
    id: 'SET10',
    says: 'A member that a module, tool, resource, prompt or its limits cannot have is refused at load, with the name that was probably meant.',
    tests: [
      test('src/modules/authoring/describe-module.test.ts', 'refuses members that a module or a tool cannot have'),
      test('src/modules/authoring/describe-surfaces.test.ts', 'refuses members that they do not have'),
    ],
    mutants: ['misspelt-members-are-read-over'],
  },
  {
    id: 'SET11',
    says: 'The package works in an empty project with nothing but its dependencies: a call, the console, strict types, an agent. Its bill of materials lists exactly the packages in its files and those that npm installs.',
    tests: [
      test('test/deploy/package.test.ts', 'works in an empty project with nothing but its dependencies'),
      test('test/deploy/package.test.ts', 'names types that import only what is installed with it'),
      test('test/deploy/package.test.ts', 'holds every file that its command and its exports can load or start'),
      test('test/deploy/bill-of-materials.test.ts', 'is valid CycloneDX'),
      test('test/deploy/bill-of-materials.test.ts', 'lists the packages whose code the maps of the chunks show'),
      test('test/deploy/bill-of-materials.test.ts', 'lists the packages that npm installs with it'),
    ],
    mutants: ['bundled-package-is-not-in-the-bill'],
  },
];
