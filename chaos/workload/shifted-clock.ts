// Loaded before everything else (`--import`) in every process and thread of a run. It shifts `Date` by the offset in the file that
// CHAOS_CLOCK names. The file is read again every 50 ms, so the clock of a running process can be made to jump.
import { readFileSync } from 'node:fs';

const READ_EVERY_MS = 50;
const file = process.env['CHAOS_CLOCK'];
const RealDate = Date;
let offsetMs = 0;

function readOffset(): void {
  try {
    offsetMs = Number(readFileSync(file!, 'utf8')) || 0;
  } catch {
    // The file does not exist yet, so the clock is not shifted.
  }
}

if (file !== undefined) {
  readOffset();
  setInterval(readOffset, READ_EVERY_MS).unref();
  const realNow = RealDate.now.bind(RealDate);
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [realNow() + offsetMs] : args, newTarget) as object,
    get: (target, name, receiver) =>
      name === 'now' ? () => realNow() + offsetMs : (Reflect.get(target, name, receiver) as unknown),
  });
}
