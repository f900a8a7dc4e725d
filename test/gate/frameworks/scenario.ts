import {
  createGate,
  fromOpenClaw,
  type DiagnosticEvent,
  type Gate,
  type GateQuestion,
  type OpenClawHandler,
} from 'sallyport/gate';

// Runs in the test suite with the frameworks that are installed here, and by scripts/journey-frameworks.mjs with the newest ones. So it
// uses nothing but the package itself.

export interface Step {
  readonly tool: ToolName;
  readonly n: number;
}

export type ToolName = 'fetch_page' | 'save' | 'status' | 'read_secret' | 'deploy' | 'search';
type Input = { readonly n: number };

const times = (count: number, tool: ToolName, n: (index: number) => number): Step[] =>
  Array.from({ length: count }, (_, index) => ({ tool, n: n(index) }));

/** The calls that the model makes, regardless of what it reads: an agent that gets stuck in every possible way. */
export const STEPS: readonly Step[] = [
  { tool: 'search', n: 1 },
  ...times(13, 'fetch_page', (index) => index),
  { tool: 'search', n: 2 },
  ...times(13, 'save', (index) => index),
  { tool: 'read_secret', n: 1 },
  { tool: 'deploy', n: 1 },
  { tool: 'deploy', n: 2 },
  { tool: 'search', n: 3 },
  ...times(24, 'status', () => 1),
  { tool: 'search', n: 4 },
];

/** An error as the platform makes it: its properties are getters that work only on the original object. */
const lateError = (): Error => new DOMException('The operation was aborted due to timeout', 'TimeoutError');

const TOOLS: Readonly<Record<ToolName, (input: Input) => unknown>> = {
  fetch_page: () => {
    throw lateError();
  },
  save: () => ({ ok: false, status: 507, error: 'the disk is full' }),
  status: () => 'still waiting',
  read_secret: () => 'hunter2',
  deploy: ({ n }) => `deployed ${n}`,
  search: ({ n }) => `page ${n}`,
};

/** A hook as OpenClaw plugins register it. So is `askAboutDeploys` below, with every member that OpenClaw's documentation names. */
const blockSecrets: OpenClawHandler = async ({ toolName }) =>
  toolName === 'read_secret' ? { block: true, blockReason: 'Secrets stay where they are.' } : undefined;

export interface Definition {
  readonly name: ToolName;
  readonly description: string;
  readonly execute: (input: Input) => Promise<unknown>;
}

export interface Scenario {
  readonly gate: Gate;
  readonly definitions: readonly Definition[];
  /** What the tools ran with. */
  readonly ran: string[];
  readonly resolutions: string[];
  /** What the gate said of each call, in order. */
  verdicts(): Promise<string[]>;
}

export function createScenario(): Scenario {
  const events: DiagnosticEvent[] = [];
  const ran: string[] = [];
  const resolutions: string[] = [];
  const askAboutDeploys: OpenClawHandler = ({ toolName, params }) => {
    if (toolName !== 'deploy') return;
    return {
      params: { n: Number(params['n']) + 100 },
      requireApproval: {
        title: 'Deploy',
        description: `Deploy ${String(params['n'])}`,
        severity: 'warning',
        timeoutMs: 3_600_000,
        timeoutBehavior: 'deny',
        allowedDecisions: ['allow-once', 'deny'],
        onResolution: (decision) => void resolutions.push(decision),
      },
    };
  };
  const decide = ({ arguments: args }: GateQuestion) => (args['n'] === 101 ? 'allow-once' : 'deny');
  const gate = createGate({
    hooks: [fromOpenClaw(blockSecrets, { id: 'secrets' }), fromOpenClaw(askAboutDeploys, { id: 'deploys' })],
    approver: {
      request: (question) => ({ id: `q-${question.callId}`, decision: decide(question) }),
      wait: () => Promise.reject(new Error('it was answered at once')),
    },
    onEvent: (event) => void events.push(event),
  });
  const definitions = Object.entries(TOOLS).map(([name, run]): Definition => {
    return {
      name: name as ToolName,
      description: `The tool ${name}.`,
      execute: async (input) => {
        ran.push(`${name} ${input.n}`);
        return run(input);
      },
    };
  });
  return {
    gate,
    definitions,
    ran,
    resolutions,
    async verdicts() {
      // Listeners get events in later turns of the event loop. Every call emits one of these events when it ends.
      const ended = () => events.filter(({ kind }) => ENDINGS.includes(kind)).length;
      for (let turn = 0; ended() < STEPS.length && turn < 10_000; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      return events.filter(({ kind }) => kind !== 'tool.started').map(describe);
    },
  };
}

const ENDINGS: readonly string[] = ['tool.completed', 'tool.failed', 'tool.blocked'];

function describe(event: DiagnosticEvent): string {
  const error = 'error' in event && event.error !== undefined ? event.error : undefined;
  const { code = '', category = '', status = '' } = { ...error };
  const detector = 'detector' in event ? `${event.detector} ${event.count}` : '';
  const resolution = 'resolution' in event ? event.resolution : '';
  return [event.kind, event.tool, code, category, String(status), detector, resolution].filter(Boolean).join(' ');
}

/** What an agent ended with, and everything its model has read. */
export interface Ran {
  readonly finalText: string;
  readonly read: readonly string[];
}

/**
 * `definition`: the gate around the function, then the framework's `tool()`. `tool`: the gate around what `tool()` made. `both`: one around
 * the other, as happens where two parts of a program wrap tools.
 */
export const STYLES = ['definition', 'tool', 'both'] as const;
export type Style = (typeof STYLES)[number];

/** The tools of the scenario, made with a framework and guarded in one of the three ways. */
export function guardedTools<Tool extends object>(
  { gate, definitions }: Scenario,
  style: Style,
  make: (definition: Definition) => Tool,
): Tool[] {
  const run = gate.openRun();
  return definitions.map((definition) => {
    const inner = style === 'tool' ? definition : run.wrapTool(definition);
    // A new function, as decorators make them, does not show that there is a gate behind it.
    const built = make(style === 'both' ? { ...inner, execute: (input) => inner.execute(input) } : inner);
    return style === 'definition' ? built : run.wrapTool(built, { id: definition.name });
  });
}
