// Reads the trace of an instrumented build: which functions one call entered, in which order, on which thread.

/**
 * The room of a file is its folder of src/. The folders below stages/ and stores/ are rooms of their own, because each of them is a
 * separate part.
 */
export function roomOf(file) {
  const [first, second, ...rest] = file.split('/');
  if (second === undefined) return 'src';
  return (first === 'stages' || first === 'stores') && rest.length > 0 ? `${first}/${second}` : first;
}

/**
 * The functions of the shortest call in the trace. Timers that fire during a call only make it longer.
 * @returns {{ place: string, file: string, name: string, room: string }[]} each function once, where it was first entered
 */
export function readWalk(text, functions) {
  const roles = new Map();
  const calls = [];
  let open;
  for (const line of text.split('\n')) {
    const [first, second, ...rest] = line.split(' ');
    if (first === 'mark' && second === 'role') roles.set(rest[0], rest.slice(1).join(' '));
    else if (line === 'mark begin') open = [];
    else if (line === 'mark end') {
      calls.push(open);
      open = undefined;
    } else if (open !== undefined && line !== '') open.push({ thread: first, number: Number(second) });
  }
  if (calls.length === 0) throw new Error('The trace holds no whole call.');
  const quietest = calls.reduce((least, call) => (call.length < least.length ? call : least));
  const seen = new Set();
  const steps = [];
  for (const { thread, number } of quietest) {
    const [pid, threadId] = thread.split('.');
    const place = threadId === '0' ? (roles.get(pid) ?? 'other process') : 'thread of the store';
    const key = `${place} ${number}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const { file, name } = functions[number];
    steps.push({ place, file, name, room: roomOf(file) });
  }
  return steps;
}

/** Rooms with the types and small helpers that all other rooms use. Readers know them, so the path of a call is also shown without them. */
const VOCABULARY = new Set(['base', 'domain']);

/** The steps of a walk without those in the rooms of `VOCABULARY`. */
export const onPath = (steps) => steps.filter(({ room }) => !VOCABULARY.has(room));

/** The figures of a walk. A hop is a step to another file; a room change is a step to another room. */
export function measureWalk(steps) {
  const changes = (key, taken = steps) =>
    taken.filter((step, index) => index > 0 && taken[index - 1][key] !== step[key]).length;
  return {
    files: new Set(steps.map(({ file }) => file)).size,
    functions: steps.length,
    hops: changes('file'),
    rooms: new Set(steps.map(({ room }) => room)).size,
    roomChanges: changes('room'),
    pathRoomChanges: changes('room', onPath(steps)),
  };
}
