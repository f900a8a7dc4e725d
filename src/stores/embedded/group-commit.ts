import { planeError } from '../../domain/errors/errors.ts';
import { isFatal, isFull, toPlaneError, type Database } from '../sqlite/database.ts';
import type { Lane } from './lane.ts';
import { isEmptyAnswer, isPoll, LongPolls, type StoreJob, type WaitingPoll } from './long-polls.ts';
import { Replies } from './replies.ts';
import { RowCache } from './row-cache.ts';
import type { StoreClock } from './store-clock.ts';
import type { StoreIdentity, Transaction } from './transaction.ts';
import { transitions } from './transitions.ts';

/** Limits how long one commit takes, and with it how long its first request waits. */
const MAX_JOBS_PER_COMMIT = 512;

export interface GroupCommitParts {
  readonly database: Database;
  readonly lane: Lane;
  readonly clock: StoreClock;
  readonly file: StoreIdentity;
}

/** A finished job with its value. The value must not be sent before the commit. */
interface Finished {
  readonly job: StoreJob;
  readonly value: unknown;
}

type CommitResult =
  | { readonly kind: 'committed'; readonly finished: readonly Finished[] }
  | { readonly kind: 'rolled-back'; readonly error: unknown };

type Transition = (transaction: Transaction, argument: unknown) => unknown;

/**
 * Runs the requests that collected while the last commit was written, all in one transaction with one fsync. A transition that throws rolls the
 * whole transaction back. Then each of the requests runs in its own transaction, so that only the bad one fails. Once the disk cannot be trusted
 * any more, every request is refused.
 */
export class GroupCommit {
  readonly #parts: GroupCommitParts;
  readonly #polls = new LongPolls();
  readonly #rows = new RowCache();
  readonly #replies: Replies;
  readonly #stats = { commits: 0, requests: 0 };
  readonly #timedOut = new WeakSet<StoreJob>();
  #queue: StoreJob[] = [];
  #scheduled = false;
  #stopped: Error | undefined;

  constructor(parts: GroupCommitParts) {
    this.#parts = parts;
    this.#replies = new Replies(parts.database);
  }

  get stats(): { readonly commits: number; readonly requests: number } {
    return this.#stats;
  }

  submit(job: StoreJob): void {
    if (this.#stopped !== undefined) {
      job.answer({ kind: 'failed', error: this.#stopped });
      return;
    }
    this.#queue.push(job);
    this.#schedule();
  }

  /**
   * To be called when a peer has disconnected. Cancels its long polls, so that no call, reply or effect is delivered to it. Its other
   * requests still run.
   */
  withdraw(peer: object): void {
    this.#polls.removeAll(peer);
    this.#queue = this.#queue.filter((job) => job.peer !== peer || !isPoll(job));
  }

  /** Runs what has been submitted, then refuses every request. */
  close(): void {
    while (this.#queue.length > 0) this.#runBatch();
    this.#stop(planeError('STORE_UNAVAILABLE', { problem: 'it was closed' }));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Runs after the I/O of this turn, because more requests may arrive with it.
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#runBatch();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #runBatch(): void {
    // If the file was deleted or moved away, SQLite would still write into it without an error, and everything written would be lost.
    const { incarnation, isInPlace } = this.#parts.file;
    if (!isInPlace()) {
      this.#stop(
        planeError('STORE_REPLACED', { expected: `incarnation ${incarnation}`, found: 'another file or none' }),
      );
      return;
    }
    const jobs = this.#queue.splice(0, MAX_JOBS_PER_COMMIT);
    this.#stats.requests += jobs.length;
    const result = this.#commit(jobs, true);
    if (result.kind === 'committed') this.#release(result.finished);
    else for (const job of jobs) this.#runAlone(job);
  }

  #runAlone(job: StoreJob): void {
    if (this.#stopped !== undefined) {
      job.answer({ kind: 'failed', error: this.#stopped });
      return;
    }
    const result = this.#commit([job], false);
    if (result.kind === 'committed') this.#release(result.finished);
    else job.answer({ kind: 'failed', error: this.#stopped ?? toPlaneError(result.error) });
  }

  /** Runs jobs in one transaction. No other process sees anything of it before COMMIT has returned. */
  #commit(jobs: readonly StoreJob[], together: boolean): CommitResult {
    const { database, lane, clock, file } = this.#parts;
    const woken = new Set<string>();
    const wake = (topic: string): void => void woken.add(topic);
    const known = { rows: this.#rows, replies: this.#replies };
    const transaction: Transaction = { database, lane, now: clock.now(), file, ...known, wake };
    let committing = false;
    try {
      database.begin();
      const finished = jobs
        .filter((job) => !isPoll(job))
        .map((job): Finished => ({ job, value: run(transaction, job) }));
      const served = together ? this.#servePolls(transaction, woken) : [];
      for (const job of jobs) if (isPoll(job)) finished.push({ job, value: run(transaction, job) });
      this.#rows.flushRuns(database);
      lane.flush(transaction.now);
      committing = true;
      database.commit();
      database.emptyLog();
      this.#stats.commits += 1;
      for (const { poll } of served) this.#polls.remove(poll);
      // After a fault, polls run as separate jobs, because the fault may be in one of them.
      if (!together) this.#resubmitPolls(woken);
      return { kind: 'committed', finished: [...finished, ...served] };
    } catch (error) {
      this.#rollBack(error, committing);
      return { kind: 'rolled-back', error };
    }
  }

  /**
   * Serves polls that waited before this batch, so that what the batch wrote is delivered in the same commit. Polls of the batch itself come after
   * them.
   */
  #servePolls(transaction: Transaction, woken: ReadonlySet<string>): (Finished & { poll: WaitingPoll })[] {
    const served: (Finished & { poll: WaitingPoll })[] = [];
    for (const topic of woken) {
      for (const poll of this.#polls.on(topic)) {
        const value = run(transaction, poll.job);
        if (isEmptyAnswer(poll.job, value)) break;
        served.push({ job: poll.job, value, poll });
      }
    }
    return served;
  }

  #resubmitPolls(woken: ReadonlySet<string>): void {
    for (const poll of [...woken].flatMap((topic) => this.#polls.on(topic))) {
      this.#polls.remove(poll);
      this.submit(poll.job);
    }
  }

  #rollBack(error: unknown, committing: boolean): void {
    const { database, lane } = this.#parts;
    // If a commit failed for another reason than a full disk, a part of it may be on disk, and a second fsync would not report that. The
    // store then stops.
    if (isFatal(error) || (committing && !isFull(error))) this.#fail('a write failed', error);
    this.#rows.clear();
    try {
      database.rollback();
      if (this.#stopped !== undefined) return;
      lane.load();
      this.#replies.load();
    } catch (cause) {
      this.#fail('a transaction could not be undone', cause);
    }
  }

  #release(finished: readonly Finished[]): void {
    for (const { job, value } of finished) {
      const waits = this.#stopped === undefined && !this.#timedOut.has(job) && isEmptyAnswer(job, value);
      if (!waits || !this.#polls.add(job, (late) => this.#submitLast(late))) job.answer({ kind: 'answered', value });
    }
  }

  /** Runs a poll once more after its timeout, so that it answers with the current state. */
  #submitLast(job: StoreJob): void {
    this.#timedOut.add(job);
    this.submit(job);
  }

  #fail(what: string, error: unknown): void {
    const problem = `it stopped, because ${what}: ${error instanceof Error ? error.message : String(error)}`;
    this.#stop(planeError('STORE_FAILED', { problem }, error));
  }

  #stop(error: Error): void {
    this.#stopped ??= error;
    const refused = [...this.#queue.splice(0), ...this.#polls.removeAll()];
    for (const job of refused) job.answer({ kind: 'failed', error: this.#stopped });
  }
}

function run(transaction: Transaction, job: StoreJob): unknown {
  return (transitions[job.method] as Transition)(transaction, job.argument);
}
