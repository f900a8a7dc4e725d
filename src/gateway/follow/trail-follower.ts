import type { AuditHead, AuditRecord } from '../../domain/audit-record.ts';
import { shareNext } from '../../domain/share-next.ts';
import type { AuditTrail } from '../../ports/audit-store.ts';
import { parseRecord } from '../../wire/audit-record.ts';

export interface TrailListener {
  /** In the order of their lane; lanes take turns. */
  added(record: AuditRecord): void;
  /** Records were left out: what was gathered so far does not reach up to what comes now. */
  skipped(): void;
}

export interface FollowerSettings {
  /** Who is further behind than this reads only the last so many of each lane. */
  readonly most: number;
}

const AT_ONCE = 500;

/** Reads the trail once for everybody, from where it stopped before. Does nothing unless somebody asks. */
export class TrailFollower {
  readonly #trail: Pick<AuditTrail, 'auditHeads' | 'readTrail'>;
  readonly #listener: TrailListener;
  readonly #most: number;
  /** Of each lane, the last sequence that was read. */
  readonly #read = new Map<string, number>();
  #isWhole = true;
  /** Who asks gets everything that was written before they asked. */
  readonly catchUp = shareNext(() => this.#catchUp());

  constructor(
    trail: Pick<AuditTrail, 'auditHeads' | 'readTrail'>,
    listener: TrailListener,
    { most }: FollowerSettings,
  ) {
    this.#trail = trail;
    this.#listener = listener;
    this.#most = most;
  }

  /** Every lane was read from its very first record on. */
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
    return read !== undefined && head.sequence - read > this.#most;
  }

  async #readLane(head: AuditHead): Promise<void> {
    const { store, lane } = head;
    const key = keyOf(head);
    const begin = Math.max(0, head.sequence - this.#most);
    if (!this.#read.has(key) && begin > 0) this.#isWhole = false;
    let sequence = this.#read.get(key) ?? begin;
    while (sequence < head.sequence) {
      const page = await this.#trail.readTrail({ store, lane, fromSequence: sequence + 1, limit: AT_ONCE });
      if (page.length === 0) break;
      for (const { text } of page) {
        const record = parseRecord(text);
        // One that cannot be read is the business of whoever verifies the trail.
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
