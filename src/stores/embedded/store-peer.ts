import { planeError } from '../../domain/errors/errors.ts';
import { toPlaneError } from '../sqlite/database.ts';
import type { GroupCommit } from './group-commit.ts';
import { carryError, COPY_METHOD, decodeFrame, encodeFrame, type AnswerMessage, type RequestMessage } from './rpc.ts';
import { JOURNAL_METHODS, STORE_METHODS, type RequestMethod } from './store-methods.ts';

const METHODS: ReadonlySet<string> = new Set([...STORE_METHODS, ...JOURNAL_METHODS]);

/** One client as the store thread sees it. Answers that are ready at the same time are sent in one frame. */
export class StorePeer {
  readonly #groupCommit: GroupCommit;
  readonly #send: (frame: Uint8Array<ArrayBuffer>) => void;
  readonly #copyTo: (file: string) => Promise<void>;
  #outbox: AnswerMessage[] = [];
  #gone = false;

  constructor(
    groupCommit: GroupCommit,
    send: (frame: Uint8Array<ArrayBuffer>) => void,
    copyTo: (file: string) => Promise<void>,
  ) {
    this.#groupCommit = groupCommit;
    this.#send = send;
    this.#copyTo = copyTo;
  }

  receive(frame: Uint8Array): void {
    for (const [id, method, argument] of decodeFrame(frame) as RequestMessage[]) this.#request(id, method, argument);
  }

  /** Cancels the client's long polls; otherwise a call could be delivered to a closed connection. */
  leave(): void {
    this.#gone = true;
    this.#groupCommit.withdraw(this);
  }

  /** Sends ready answers now instead of at the end of this turn of the event loop. */
  flush(): void {
    if (this.#outbox.length === 0 || this.#gone) return;
    const messages = this.#outbox;
    this.#outbox = [];
    this.#send(encodeFrame(messages));
  }

  #request(id: number, method: string, argument: unknown): void {
    if (method === COPY_METHOD) {
      this.#copyTo((argument as { readonly file: string }).file).then(
        () => this.#answer([id, 1, null]),
        (error: unknown) => this.#answer([id, 0, carryError(toPlaneError(error))]),
      );
      return;
    }
    if (!METHODS.has(method)) {
      this.#answer([id, 0, carryError(planeError('INTERNAL', { problem: `the store has no method ${method}` }))]);
      return;
    }
    this.#groupCommit.submit({
      method: method as RequestMethod,
      argument,
      peer: this,
      answer: (answer) =>
        this.#answer(answer.kind === 'answered' ? [id, 1, answer.value] : [id, 0, carryError(answer.error)]),
    });
  }

  #answer(message: AnswerMessage): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.flush());
    this.#outbox.push(message);
  }
}
