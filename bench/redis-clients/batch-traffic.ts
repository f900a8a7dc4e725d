import { randomBytes } from 'node:crypto';

export type Argument = string | Buffer;

/** The shape of an accept: this many short texts per call, and one envelope. */
const TEXTS = 14;
const ENVELOPE = randomBytes(300);
const STRIDE = TEXTS + 1;

/** Returns a word and the id for each call of the batch, as the store's functions do. Redis does the same work for all clients. */
export const LIBRARY = `#!lua name=bench
redis.register_function('bench_batch', function(KEYS, ARGV)
  local answers = {}
  for at = 1, #ARGV, ${STRIDE} do answers[#answers + 1] = { 'ACCEPTED', ARGV[at] } end
  return answers
end)`;

let lastId = 0;

/** The arguments of FCALL. The strings are new each time, so that no client benefits from having seen them before. */
export function makeBatch(calls: number): Argument[] {
  const args: Argument[] = ['bench_batch', '1', 'bench'];
  for (let call = 0; call < calls; call += 1) {
    lastId += 1;
    for (let text = 0; text < TEXTS; text += 1)
      args.push(`${lastId}.${'abcdefghijklmnopqrstuvwxyz-0123456789_'}.${text}`);
    args.push(ENVELOPE);
  }
  return args;
}

export function checkAnswers(args: readonly Argument[], answers: unknown): void {
  const list = answers as readonly (readonly Buffer[])[];
  const calls = (args.length - 3) / STRIDE;
  const last = list[calls - 1]?.[1];
  if (list.length !== calls || !Buffer.isBuffer(last) || last.toString('latin1') !== args[3 + (calls - 1) * STRIDE]) {
    throw new Error('the answers are not those of the batch');
  }
}
