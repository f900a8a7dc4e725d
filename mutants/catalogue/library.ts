import type { Mutant } from '../mutant.ts';

const WRAP = 'src/gate/wrap';
const EVENTS_TEST = `${WRAP}/gate-events.test.ts`;
const LOOPS_TEST = `${WRAP}/gate-loops.test.ts`;
const NESTED_TEST = `${WRAP}/nested-call.test.ts`;
const OPTIONS_TEST = `${WRAP}/gate-options.test.ts`;
const FRAMEWORKS_TEST = 'test/gate/frameworks.test.ts';
const OPENCLAW = 'src/gate/hooks/from-openclaw.ts';
const OPENCLAW_TEST = 'src/gate/hooks/from-openclaw.test.ts';

/** Bugs against the requirements in requirements/rows-library.ts: the gate as a library that runs inside other people's agents. */
export const LIBRARY: readonly Mutant[] = [
  {
    id: 'thrown-errors-are-copied',
    bug: 'What a tool throws is replaced by an object that inherits from it.',
    file: `${WRAP}/passage.ts`,
    find: '        return { error };',
    replace: '        return { error: Object.create(error as object) as unknown };',
    caughtBy: [{ file: `${WRAP}/thrown-errors.test.ts`, title: 'stays it after ten throws' }],
  },
  {
    id: 'advice-that-fails-costs-the-result',
    bug: 'An addAdvice of the program that throws takes the place of the result.',
    file: `${WRAP}/passage.ts`,
    find: 'return adviseSafely(value);',
    replace: 'return advise(value, advice);',
    caughtBy: [{ file: `${WRAP}/thrown-errors.test.ts`, title: 'never takes the place of a result' }],
  },
  {
    id: 'sessions-share-their-endings',
    bug: 'A run that was ended for a loop makes the runs of all other sessions stricter.',
    file: `${WRAP}/create-gate.ts`,
    find: 'memories.of(session)',
    replace: 'memories.of(ownSession)',
    caughtBy: [{ file: LOOPS_TEST, title: 'makes nothing stricter for another session' }],
  },
  {
    id: 'unknown-options-are-dropped',
    bug: 'An option that does not exist is dropped.',
    file: `${WRAP}/check-options.ts`,
    find: 'if (!Object.hasOwn(known, name)) return [',
    replace: "if (!Object.hasOwn(known, name) && name === '') return [",
    caughtBy: [{ file: OPTIONS_TEST, title: 'are refused, with a guess' }],
  },
  {
    id: 'modules-of-tools-are-dropped',
    bug: 'wrapTool takes no module, so that rules for the module do not match.',
    file: `${WRAP}/describe-tool.ts`,
    find: "const prefix = module === undefined ? '' : `${module}.`;",
    replace: "const prefix = '' + (module === '' ? '.' : '');",
    caughtBy: [{ file: OPTIONS_TEST, title: 'take a module where a rule names tools' }],
  },
  {
    id: 'tool-names-collide',
    bug: 'A tool can be named so that it gets the id of another one.',
    file: `${WRAP}/tool-id.ts`,
    find: '&& !MAPPED.test(name) ?',
    replace: '&& MAPPED !== undefined ?',
    caughtBy: [
      {
        file: `${WRAP}/tool-id.test.ts`,
        title: 'gives different names different ids, also names that look already mapped',
      },
    ],
  },
  {
    id: 'thrown-errors-have-no-category',
    bug: 'Events of the library do not say of which kind a thrown error is.',
    file: `${WRAP}/passage.ts`,
    find: '() => classifyThrown(error),',
    replace: '() => (error === call ? classifyThrown(error) : undefined),',
    caughtBy: [{ file: EVENTS_TEST, title: 'have the category and the status of a worker' }],
  },
  {
    id: 'traces-of-hosts-are-lost',
    bug: 'Events of the library do not have the trace of the host.',
    file: `${WRAP}/emit-event.ts`,
    find: '!events.spans ? {}',
    replace: 'events.spans ? {}',
    caughtBy: [{ file: EVENTS_TEST, title: 'have the run id and the trace of the host' }],
  },
  {
    id: 'all-parameters-are-objects',
    bug: 'Events call lists and texts that a tool got an object.',
    file: `${WRAP}/guard-entry.ts`,
    find: 'parameters: summariseValue(input) }',
    replace: 'parameters: summariseValue({}) }',
    caughtBy: [{ file: EVENTS_TEST, title: 'say which kind of parameters a tool got' }],
  },
  {
    id: 'getters-leave-the-gate',
    bug: 'What a getter of the arguments throws leaves the gate without a code and without an event.',
    file: `${WRAP}/guard-entry.ts`,
    find: 'const given = checkSafely(',
    replace: 'const given = checkArguments(',
    caughtBy: [{ file: EVENTS_TEST, title: 'of arguments that throw when they are read' }],
  },
  {
    id: 'loops-are-not-logged',
    bug: 'A call that is blocked as part of a loop is no line of the log.',
    file: `${WRAP}/emit-event.ts`,
    find: "if (detector !== 'ended') needs.log.warn(",
    replace: "if (detector === 'ended') needs.log.warn(",
    caughtBy: [{ file: EVENTS_TEST, title: 'of loops are lines of the log too' }],
  },
  {
    id: 'denials-at-once-are-not-told',
    bug: 'Hooks do not hear of a question that was denied without asking.',
    file: `${WRAP}/approve.ts`,
    find: '  void hooks.resolved(tool, {',
    replace: '  if (reason === undefined) void hooks.resolved(tool, {',
    caughtBy: [
      { file: `${WRAP}/gate-approvals.test.ts`, title: 'that is denied at once is reported as a no, like every other' },
    ],
  },
  {
    id: 'decorated-tools-are-gated-twice',
    bug: 'A wrapped tool that was decorated and wrapped again is checked at each guard.',
    file: `${WRAP}/guard-entry.ts`,
    find: 'const before = passedBefore(id, sameCall);',
    replace: 'const before = passedBefore(id, { ...sameCall, gate: {} });',
    caughtBy: [
      { file: NESTED_TEST, title: 'is gated once' },
      { file: NESTED_TEST, title: 'is blocked for a loop as late as one that was not decorated' },
    ],
  },
  {
    id: 'calls-from-inside-slip-past',
    bug: 'Every further call of the same tool from inside of a call passes without a check.',
    file: `${WRAP}/nested-call.ts`,
    find: '  found.guards.add(guard);\n',
    replace: '',
    caughtBy: [{ file: NESTED_TEST, title: 'is not a way past the gate' }],
  },
  {
    id: 'changed-arguments-slip-past',
    bug: 'Arguments that a decoration has changed are not checked.',
    file: `${WRAP}/nested-call.ts`,
    find: '  if (!isSameInput && call.canonical !== found.canonical) return undefined;\n',
    replace: '  if (!isSameInput && call.canonical === undefined) return undefined;\n',
    caughtBy: [{ file: NESTED_TEST, title: 'arguments that the decoration changed are checked again' }],
  },
  {
    id: 'late-calls-slip-past',
    bug: 'What an ended call left running calls the tool without a check.',
    file: `${WRAP}/nested-call.ts`,
    find: 'found.isOver || ',
    replace: '',
    caughtBy: [
      { file: NESTED_TEST, title: 'is checked when it is called by something that an ended call left running' },
    ],
  },
  {
    id: 'tools-of-agents-are-open',
    bug: 'A tool that OpenAI Agents made is returned unguarded.',
    file: `${WRAP}/entry-points.ts`,
    find: 'return isAgentsTool(tool) ? [',
    replace: 'return isAgentsTool(tool) && known.length > 0 ? [',
    caughtBy: [{ file: FRAMEWORKS_TEST, title: 'runs to its end with the same verdicts' }],
  },
  {
    id: 'refusals-end-agents',
    bug: 'A refusal in front of a tool that OpenAI Agents made is thrown, which ends the run of the agent.',
    file: `${WRAP}/guard-entry.ts`,
    find: 'if (returnsErrors && refused instanceof GateBlocked) return refused.message;',
    replace: '',
    caughtBy: [{ file: FRAMEWORKS_TEST, title: 'runs to its end with the same verdicts' }],
  },
  {
    id: 'openclaw-timeouts-are-not-cut',
    bug: 'A handler of OpenClaw can keep a call waiting for a day.',
    file: OPENCLAW,
    find: 'Math.min(timeoutMs, MAX_TIMEOUT_MS)',
    replace: 'Math.min(timeoutMs, 10 * MAX_TIMEOUT_MS)',
    caughtBy: [{ file: OPENCLAW_TEST, title: 'is not waited for longer than there' }],
  },
  {
    id: 'openclaw-reasons-alone-allow',
    bug: 'A handler of OpenClaw that gives a reason to block, and misspells block, lets the call through.',
    file: OPENCLAW,
    find: 'if (block === undefined && blockReason !== undefined)',
    replace: "if (block === undefined && blockReason === '')",
    caughtBy: [{ file: OPENCLAW_TEST, title: 'that answers' }],
  },
  {
    id: 'openclaw-silence-warns-nobody',
    bug: 'A handler of OpenClaw that wants silence to allow a call is not warned about.',
    file: OPENCLAW,
    find: "if (timeoutBehavior === 'allow')",
    replace: 'if (timeoutBehavior === undefined)',
    caughtBy: [{ file: OPENCLAW_TEST, title: 'gets a no, and a warning once' }],
  },
];
