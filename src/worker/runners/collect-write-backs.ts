import { basename } from 'node:path';
import type { SentFile } from '../../modules/authoring/tool-context.ts';
import { ToolFailure } from '../../modules/authoring/tool-failure.ts';
import {
  MAX_COST,
  type FileWriteBack,
  type InjectedTool,
  type RichMessage,
  type WriteBacks,
} from '../../domain/outcome/content.ts';
import { NotPlain, SizeBudget, TooLarge } from './make-plain.ts';
import { isCost, MAX_FILES, MAX_MESSAGES, MAX_OFFERS, plainFile, plainMessage, plainOffer } from './plain-blocks.ts';
import { readRegularFile } from './read-regular-file.ts';

/**
 * Collects what a run hands over in addition to its answer. A refusal is thrown where the tool sends, so that its author sees which item
 * was refused.
 */
export class WriteBackCollector {
  readonly #maxBytes: number;
  readonly #budget: SizeBudget;
  #fileBytes = 0;
  readonly #files: FileWriteBack[] = [];
  readonly #messages: RichMessage[] = [];
  readonly #offers: InjectedTool[] = [];
  #cost: number | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#budget = new SizeBudget(maxBytes);
  }

  sendFile(file: SentFile): void {
    accept(this.#files, MAX_FILES, 'files', () => {
      const given = 'path' in file ? this.#fromPath(file) : file;
      const plain = plainFile({ mediaType: 'application/octet-stream', ...given }, this.#budget, 'file');
      this.#fileBytes += plain.bytes.byteLength;
      return plain;
    });
  }

  sendMessage(message: RichMessage): void {
    accept(this.#messages, MAX_MESSAGES, 'messages', () => plainMessage(message, this.#budget, 'message'));
  }

  offerTool(offer: InjectedTool): void {
    accept(this.#offers, MAX_OFFERS, 'offers', () => plainOffer(offer, this.#budget, 'offer'));
  }

  addCost(amount: number): void {
    if (!isCost(amount)) throw new TypeError(`ctx.cost: the amount must be a number from 0 to ${MAX_COST}`);
    this.#cost = Math.min((this.#cost ?? 0) + amount, MAX_COST);
  }

  take(): WriteBacks {
    const lists = { files: [...this.#files], messages: [...this.#messages], injectedTools: [...this.#offers] };
    return this.#cost === undefined ? lists : { ...lists, cost: this.#cost };
  }

  #fromPath(file: SentFile & { readonly path: string }): object {
    const { path, name = basename(path), mediaType } = file;
    const bytes = readRegularFile(path, this.#maxBytes - this.#fileBytes);
    return { name, bytes, ...(mediaType === undefined ? {} : { mediaType }) };
  }
}

function accept<Item>(list: Item[], max: number, name: string, make: () => Item): void {
  if (list.length >= max)
    throw new ToolFailure(`A call may send ${max} ${name}, not more.`, { code: 'WRITE_BACK_REFUSED' });
  try {
    list.push(make());
  } catch (error) {
    if (!(error instanceof NotPlain) && !(error instanceof TooLarge)) throw error;
    throw new ToolFailure(`It could not be sent: ${error.message}.`, { code: 'WRITE_BACK_REFUSED', cause: error });
  }
}
