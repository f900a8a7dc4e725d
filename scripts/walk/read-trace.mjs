// Reads the trace of an instrumented build: which functions one call entered, in which order, on which thread.

/** A room is a folder of src/. The folders of stages/ and stores/ are rooms of their own, as each is a part by itself. */
export function roomOf(file) {
  const [first, second, ...rest] = file.split('/');
  if (second === undefined) return 'src';
  return (first === 'stages' || first === 'stores') && rest.length > 0 ? `${first}/${second}` : first;
}

/**
 * The quietest of the calls in the trace: what timers do in between would only make another one longer.
 * @returns {{ place: string, file: string, name: string, room: string }[]} each function where it was entered first
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

/** The figures of a walk. A hop leads to another file; a room change to another room. */
export function measureWalk(steps) {
  const changes = (key) => steps.filter((step, index) => index > 0 && steps[index - 1][key] !== step[key]).length;
  return {
    files: new Set(steps.map(({ file }) => file)).size,
    functions: steps.length,
    hops: changes('file'),
    rooms: new Set(steps.map(({ room }) => room)).size,
    roomChanges: changes('room'),
  };
}
