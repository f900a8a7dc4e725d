import { userInfo } from 'node:os';
import { jsonOf } from '../cli/run-cli.ts';
import type { ConsolePage } from '../console/browser.ts';
import { eventually } from '../support/process.ts';
import type { JourneyPlane } from './journey-plane.ts';

/** What a mail is sent with. Each field has something that encodings, editors and forms like to change. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
}

export const mailTo = (to: string): Mail => ({
  to,
  subject: '  spaces, "quotes", back\\slash, 1e2 ',
  body: 'é and e\u0301, 😀, \u202eturned\u202c,\n\ttabbed \u0007 end',
});

export interface Scene {
  readonly plane: JourneyPlane;
  /** The console, opened before the question was asked. */
  readonly desk: ConsolePage;
  readonly mail: Mail;
}

export interface Journey {
  readonly tool: 'mail' | 'refund';
  decide(scene: Scene): Promise<void>;
  /** What the tool runs with; undefined when it must not run. */
  runs(mail: Mail): Mail | undefined;
  readonly code?: string;
  /** What the client reads in the end. */
  readonly text?: string;
  /** The records of the call, in their order. */
  readonly audit: readonly Readonly<Record<string, unknown>>[];
}

const REQUESTED = { event: 'approval.requested', subject: 'lena', agent: 'support' };
const RAN = { event: 'call.settled', outcome: 'ok', executed: 'yes' };
const COMMENT = 'Not to them; ask Ida first.';
const BY_CONSOLE = { event: 'approval.decided', by: `operator ${userInfo().username}` };

const corrected = (mail: Mail): Mail => ({
  ...mail,
  subject: `${mail.subject}\u00a0`,
  body: `${mail.body} (corrected é)`,
});

export const JOURNEYS = {
  'is allowed in the console': {
    tool: 'mail',
    async decide({ desk, mail }) {
      await look(desk, mail);
      await desk.press('a');
    },
    runs: (mail) => mail,
    audit: [REQUESTED, { ...BY_CONSOLE, decision: 'allow-once' }, RAN],
  },
  'is denied in the console': {
    tool: 'mail',
    async decide({ desk, mail }) {
      await look(desk, mail);
      await desk.press('d');
      await desk.page.keyboard.type(COMMENT);
      await desk.press('Enter');
    },
    runs: () => undefined,
    code: 'APPROVAL_DENIED',
    text: COMMENT,
    audit: [
      REQUESTED,
      { ...BY_CONSOLE, decision: 'deny', comment: COMMENT },
      { event: 'call.settled', outcome: 'denied', code: 'APPROVAL_DENIED', executed: 'no' },
    ],
  },
  'is edited in the console': {
    tool: 'mail',
    async decide({ desk, mail }) {
      await look(desk, mail);
      await desk.press('e');
      await desk.page.getByLabel('Arguments as JSON').fill(JSON.stringify(corrected(mail)));
      await desk.press('Control+Enter');
    },
    runs: corrected,
    audit: [REQUESTED, { ...BY_CONSOLE, decision: 'allow-once' }, RAN],
  },
  'is allowed on the command line': {
    tool: 'mail',
    async decide({ plane }) {
      const { id, binding } = await pendingQuestion(plane);
      const decided = await plane.cli(
        'approvals',
        'decide',
        id,
        'allow-once',
        '--binding',
        binding,
        '--as',
        'operator:ops',
      );
      if (decided.code !== 0) throw new Error(decided.stderr);
    },
    runs: (mail) => mail,
    audit: [REQUESTED, { event: 'approval.decided', by: 'operator ops', decision: 'allow-once' }, RAN],
  },
  'is decided by nobody': {
    tool: 'refund',
    decide: async () => undefined,
    runs: () => undefined,
    code: 'APPROVAL_EXPIRED',
    audit: [
      REQUESTED,
      { event: 'approval.expired' },
      { event: 'call.expired', code: 'APPROVAL_EXPIRED', executed: 'no' },
    ],
  },
} as const satisfies Readonly<Record<string, Journey>>;

/** Waits until the question has appeared in the console by itself and has been visible long enough to be decided. */
async function look(desk: ConsolePage, { to }: Mail): Promise<void> {
  await desk.page.locator('.question', { hasText: to }).waitFor();
  await desk.ready();
}

async function pendingQuestion(plane: JourneyPlane): Promise<{ readonly id: string; readonly binding: string }> {
  const list = async (): Promise<undefined | { id: string; binding: string }> => {
    const listed = jsonOf(await plane.cli('approvals', 'list', '--json')) as unknown as { question: never }[];
    return listed[0]?.question;
  };
  return eventually(list, { what: 'a question' });
}
