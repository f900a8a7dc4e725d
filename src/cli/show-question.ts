import type { ApprovalQuestion } from '../domain/policy/approval.ts';
import { masksOf, renderQuestion } from '../gate/approvals/render-question.ts';
import type { ApprovalNotifier } from '../domain/ports/approval-notifier.ts';
import { showDuration } from './duration.ts';
import type { Terminal } from './terminal.ts';

type Asked = Parameters<ApprovalNotifier['requested']>[0];

/** The commands that decide a question, one per line. The command that shows the whole question comes first. */
export function decideCommands(
  program: string,
  question: Pick<ApprovalQuestion, 'id' | 'decisions' | 'masks'>,
): string[] {
  const { id, decisions } = question;
  // If something is masked, the approver can allow the call only after revealing it.
  const look = masksOf(question).length === 0 ? 'show' : 'reveal';
  return [
    `${program} approvals ${look} ${id}`,
    ...decisions.map((decision) => `${program} approvals decide ${id} ${decision}`),
  ];
}

export interface ShownPlace {
  /** How the user types this program to reach this store, such as `./sallyport --folder plane`. */
  readonly program: string;
  /** The URL of the gateway that serves the console; undefined when it is not known. */
  readonly consoleUrl: string | undefined;
}

/** Prints what is asked, for whom, until when, and how to decide. The arguments are not shown: the output of a terminal may be kept as a log. */
export function showQuestion(
  terminal: Terminal,
  { question, expiresAt }: Asked,
  { program, consoleUrl }: ShownPlace,
  now: number,
): void {
  const { title, tool, requester, severity } = renderQuestion(question);
  terminal.warn(`a person is asked: ${title}`);
  const rows = [`${tool} for ${requester}; severity ${severity}; ends in ${showDuration(expiresAt - now)}`];
  for (const line of [...rows, ...decideCommands(program, question), ...consoleLine(question, consoleUrl)])
    terminal.hint(line);
}

export function consoleLine({ id }: Pick<ApprovalQuestion, 'id'>, consoleUrl: string | undefined): string[] {
  return consoleUrl === undefined ? [] : [`or in the console: ${consoleUrl}/console/approvals/${id}`];
}

const SHOWN_AT_ONCE = 5;
const WINDOW_MS = 10_000;

/** Shows questions as they arrive. In a flood it shows the first few of each ten seconds, and then how many more there were. */
export class QuestionBoard implements ApprovalNotifier {
  readonly #show: (asked: Asked) => void;
  readonly #showMore: (count: number) => void;
  #shown = 0;
  #more = 0;
  #isOpen = false;

  constructor(show: (asked: Asked) => void, showMore: (count: number) => void) {
    this.#show = show;
    this.#showMore = showMore;
  }

  requested(asked: Asked): void {
    if (!this.#isOpen) setTimeout(() => this.#endWindow(), WINDOW_MS).unref();
    this.#isOpen = true;
    if (this.#shown === SHOWN_AT_ONCE) {
      this.#more += 1;
      return;
    }
    this.#shown += 1;
    this.#show(asked);
  }

  resolved(): void {
    // Nothing to show: the command or the page that decided has already shown it.
  }

  #endWindow(): void {
    const more = this.#more;
    [this.#shown, this.#more, this.#isOpen] = [0, 0, false];
    if (more > 0) this.#showMore(more);
  }
}
