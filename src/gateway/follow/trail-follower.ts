import type { AuditHead, AuditRecord } from '../../domain/audit/audit-record.ts';
import { shareNext } from '../../domain/call/share-next.ts';
import type { TrailRecords } from '../../domain/ports/audit-store.ts';
import { parseRecord } from '../../domain/audit/record-bytes.ts';

export interface TrailListener {
  /** Receives the records of a lane in their order. Lanes are read one after the other. */
  added(record: AuditRecord): void;
  /**
   * Called when records were left out. What the listener has collected so far has a gap before the next record, so it should start again.
   */
  skipped(): void;
}

export interface FollowerSettings {
  /**
   * Max records of each lane that are read at the start, and again when a lane is more than this many records behind; older ones are left
   * out.
   */
  readonly max: number;
}

const AT_ONCE = 500;

/**
 * Reads the trail lane by lane and passes the records to the listener. It reads only when `catchUp` is called, and continues where it
 * stopped before.
 */
export class TrailFollower {
  readonly #trail: TrailRecords;
  readonly #listener: TrailListener;
  readonly #max: number;
  /** The last sequence that was read, by lane. */
  readonly #read = new Map<string, number>();
  #isWhole = true;
  /** Reads everything that was written before the call of this function. */
  readonly catchUp = shareNext(() => this.#catchUp());

  constructor(trail: TrailRecords, listener: TrailListener, { max }: FollowerSettings) {
    this.#trail = trail;
    this.#listener = listener;
    this.#max = max;
  }

  /** Whether every lane was read from its very first record on. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  async #catchUp(): Promise<void> {
    const heads = await this.#trail.auditHeads();
    if (heads.some((head) => this.#isTooFarBehind(head))) {
      this.#read.clear();
      this.#listener.skipped();
    }
    for (const head of heads) await this.#readLane(head);
  }

  #isTooFarBehind(head: AuditHead): boolean {
    const read = this.#read.get(keyOf(head));
    return read !== undefined && head.sequence - read > this.#max;
  }

  async #readLane(head: AuditHead): Promise<void> {
    const { store, lane } = head;
    const key = keyOf(head);
    const begin = Math.max(0, head.sequence - this.#max);
    if (!this.#read.has(key) && begin > 0) this.#isWhole = false;
    let sequence = this.#read.get(key) ?? begin;
    while (sequence < head.sequence) {
      const page = await this.#trail.readTrail({ store, lane, fromSequence: sequence + 1, limit: AT_ONCE });
      if (page.length === 0) break;
      for (const { text } of page) {
        const record = parseRecord(text);
        // A record that cannot be parsed is left out here; the verification of the trail reports it.
        if (record !== undefined) this.#listener.added(record);
        sequence = record?.sequence ?? sequence + 1;
      }
      this.#read.set(key, sequence);
    }
    this.#read.set(key, Math.max(sequence, head.sequence));
  }
}

function keyOf({ store, lane }: Pick<AuditHead, 'store' | 'lane'>): string {
  return `${store}/${lane}`;
}
