import type { Mutant } from '../mutant.ts';

const HOSTILE = 'test/upstreams/hostile.test.ts';
const PINS = 'test/contract/embedded.test.ts';

/** Bugs between the plane and the MCP servers of strangers. */
export const UPSTREAMS: readonly Mutant[] = [
  {
    id: 'a-server-hides-arguments-from-approvers',
    bug: 'Marks in the schema of an MCP server that was not reviewed hide the arguments of its calls from the approver.',
    file: 'src/upstreams/declare-upstream.ts',
    find: 'isReviewed ? input : withoutSecretMarks(input)',
    replace: 'input',
    caughtBy: [{ file: HOSTILE, title: 'cannot hide its arguments from an approver' }],
  },
  {
    id: 'a-server-says-itself-that-it-is-harmless',
    bug: 'A tool of an MCP server that was not reviewed is taken for one that only reads.',
    file: 'src/upstreams/declare-upstream.ts',
    find: "override.effect ?? definition.effect ?? 'unsafe'",
    replace: "override.effect ?? definition.effect ?? 'read'",
    caughtBy: [{ file: HOSTILE, title: 'is unsafe and unreviewed with any claim about itself' }],
  },
  {
    id: 'a-changed-definition-is-called',
    bug: 'A tool that an MCP server has changed since it was published is called all the same.',
    file: 'src/upstreams/call/upstream-runner.ts',
    find: 'offered !== undefined && offered === this.#needs.digestOf(key)',
    replace: 'offered !== undefined',
    caughtBy: [{ file: HOSTILE, title: 'is refused only for the user to whom it offers something else' }],
  },
  {
    id: 'an-approval-counts-for-another-form-of-the-tool',
    bug: 'A call that was judged and approved for one definition is sent to the one that is accepted by then.',
    file: 'src/upstreams/upstreams.ts',
    find: 'current?.digest === digest ? declared?.definitions.get(id) : undefined',
    replace: 'declared?.definitions.get(id)',
    caughtBy: [{ file: HOSTILE, title: 'does not get a call that was judged for another form of the tool' }],
  },
  {
    id: 'a-program-gets-the-environment-of-the-worker',
    bug: 'A program that speaks MCP gets all variables of the worker, also those with secrets.',
    file: 'src/upstreams/connect/child-environment.ts',
    find: 'HANDED_ON.includes(name) ||',
    replace: 'true ||',
    caughtBy: [{ file: HOSTILE, title: 'gets the path, the locale, a home of its own and what was declared' }],
  },
  {
    id: 'a-process-that-left-its-group-stays-behind',
    bug: 'A process that an MCP server started in a group of its own is still there after the connection has ended.',
    file: 'src/upstreams/stdio/stdio-transport.ts',
    find: 'killEscaped(this.#options.instance);',
    replace: '',
    caughtBy: [{ file: HOSTILE, title: 'leaves no process behind, also not one that left its group' }],
  },
  {
    id: 'one-message-ends-the-worker',
    bug: 'A reply that is nested too deeply throws out of the worker.',
    file: 'src/upstreams/stdio/stdio-transport.ts',
    find: "return this.condemn('it sent a message that cannot be handled');",
    replace: "throw new Error('unhandled');",
    caughtBy: [{ file: HOSTILE, title: 'loses its connection, and the call may have run' }],
  },
  {
    id: 'a-late-operator-overwrites-the-pins-of-another',
    bug: 'The embedded store replaces the pins without comparing their version.',
    file: 'src/stores/embedded/transitions/pins.ts',
    find: 'if (found !== request.expectedVersion) {',
    replace: 'if (found < 0) {',
    caughtBy: [{ file: PINS, title: 'pins are written by compare-and-set, and every process reads them' }],
  },
];
