// The main file of a tool's process. It takes one run at a time from the channel and answers on it. It ends only when the channel closes;
// the worker decides when that happens.
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { importModule } from '../../../modules/authoring/import-module.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { Outcome } from '../../../domain/outcome/outcome.ts';
import type { PlatformReply, RunEnding, SecretAnswer } from '../../../domain/ports/tool-runner.ts';
import { decode } from '../../../base/message-pack.ts';
import { describeThrown } from '../describe-thrown.ts';
import type { RunHost } from '../open-context.ts';
import { runTool } from '../run-tool.ts';
import { abortError } from '../settle-abort.ts';
import { encodeFrame, FrameReader } from '../../../base/frames.ts';
import { monotonicMs } from '../../../base/monotonic-ms.ts';
import { CHANNEL_FD, type FromProcess, type ToProcess } from './messages.ts';
import { serveLoadedCode } from './serve-loaded-code.ts';

interface Asked {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

interface CurrentRun {
  readonly number: number;
  readonly controller: AbortController;
  /** Requests to the worker without an answer yet, by number. The worker sends the kind of answer that fits the request. */
  readonly asked: Map<number, Asked>;
  readonly end: (ending: RunEnding) => void;
}

// Saved before any tool code runs: a tool may replace members of `process`.
const kill = process.kill.bind(process);
const ownGroup = -process.pid;
const workerPid = Number(process.argv[2]);
const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
const frames = new FrameReader();
const PRINT_MS = 1000;
let current: CurrentRun | undefined;
let questions = 0;

const die = (): void => void kill(ownGroup, 'SIGKILL');
const send = (message: FromProcess): Promise<void> =>
  new Promise((resolve) => channel.write(encodeFrame(message), () => resolve()));

function receive(message: ToProcess): void {
  if (message.type === 'run') return void start(message);
  if (message.run !== current?.number) return;
  if (message.type === 'abort') return current.controller.abort(abortError(message.why));
  const asked = current.asked.get(message.id);
  current.asked.delete(message.id);
  if (message.type === 'nested-answer') asked?.resolve(message.outcome as never);
  else if (message.type === 'start-answer') asked?.resolve(message.mayStart as never);
  else if (message.type === 'secret-answer') asked?.resolve(message.answer as never);
  else if (message.type === 'service-answer') asked?.resolve(message.value as never);
  else if (message.type === 'service-refusal') asked?.reject(serviceFailure(message));
  else if (message.type === 'platform-answer') asked?.resolve(message.reply as never);
  else asked?.reject(new Error(message.problem));
}

/** A refusal without a code did not come from a service: the worker could not make the request, e.g. because an argument is not JSON. */
function serviceFailure({ problem, code }: Extract<ToProcess, { type: 'service-refusal' }>): Error {
  const error = new Error(problem);
  return code === undefined ? error : Object.assign(error, { name: 'ServiceFailure', code });
}

async function start(order: Extract<ToProcess, { type: 'run' }>): Promise<void> {
  const { run, tool, facts } = order;
  const controller = new AbortController();
  const ending = new Promise<RunEnding>((resolve) => {
    current = { number: run, controller, asked: new Map(), end: resolve };
  });
  // Awaited: the worker may repeat a run that did not send `entered`, so the message must be sent before the tool's first line runs.
  await send({ type: 'entered', run });
  if (order.code !== undefined) serveLoadedCode(order.code);
  const host = { ...hostOf(run, controller.signal), stopFor: () => askForStart(run, order.startUntil) };
  void runTool(() => importModule(order), tool, facts, host).then((own) => endOf(run)(own));
  const ended = await ending;
  // What the tool printed belongs to this call, so it is sent first. Output that does not drain must not delay the answer.
  await Promise.race([
    Promise.all([printed(process.stdout), printed(process.stderr)]),
    pause(PRINT_MS, undefined, { ref: false }),
  ]);
  await send({ type: 'ending', run, ending: ended });
  if (current?.number === run) current = undefined;
}

function printed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => (stream.writableLength > 0 ? void stream.write('', () => resolve()) : resolve()));
}

/** Ends the run if it is still the current one: an uncaught error may already have ended it. */
function endOf(run: number): (ending: RunEnding) => void {
  return (ending) => (current?.number === run ? current.end(ending) : undefined);
}

function hostOf(run: number, signal: AbortSignal): RunHost {
  return {
    signal,
    throwIfAborted: () => signal.throwIfAborted(),
    onProgress: (progress) => void send({ type: 'progress', run, progress }),
    onLog: (line) => void send({ type: 'log', run, line }),
    onNestedCall: (request) => ask<Outcome>(run, (id) => ({ type: 'nested-call', run, id, request })),
    onSecret: (name) => ask<SecretAnswer>(run, (id) => ({ type: 'secret-wanted', run, id, name })),
    onServiceCall: (request) => ask<JsonValue>(run, (id) => ({ type: 'service-call', run, id, request })),
    onPlatform: (request) => ask<PlatformReply>(run, (id) => ({ type: 'platform', run, id, request })),
  };
}

/** Asks the worker for permission if importing the module, or a pause of this process, took longer than the worker's verdict is valid. */
function askForStart(run: number, startUntil: number | undefined): Promise<undefined> | undefined {
  if (startUntil === undefined || monotonicMs() <= startUntil) return undefined;
  return ask<boolean>(run, (id) => ({ type: 'start-wanted', run, id })).then((mayStart) => {
    // The worker knows how the call ends, so the error thrown here does not matter.
    if (!mayStart) throw abortError('aborted');
    return undefined;
  });
}

/** Sends a question; the answer comes over the channel under the number of the question. */
function ask<Answer>(run: number, question: (id: number) => FromProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (current?.number !== run) return reject(new Error('This call has ended.'));
    questions += 1;
    current.asked.set(questions, { resolve, reject });
    void send(question(questions));
  });
}

function worn(thrown: unknown): void {
  void send({ type: 'worn', run: current?.number ?? 0, cause: describeThrown(thrown).cause });
}

// An unhandled rejection may come from an earlier call: the current call continues, but the process is not used again.
process.on('unhandledRejection', worn);
// An error was thrown in a callback, so the tool's promise may never settle. The run is ended with this error.
process.on('uncaughtException', (thrown) => {
  worn(thrown);
  current?.end({ kind: 'threw', isStarted: true, ...describeThrown(thrown) });
});

try {
  // If memory runs out, the kernel should kill this process and not the worker.
  writeFileSync('/proc/self/oom_score_adj', '500');
} catch {
  // Not Linux, or not permitted: then the kernel decides by itself which process to kill.
}

channel.on('data', (chunk) => {
  for (const body of frames.push(chunk, Number.MAX_SAFE_INTEGER)) receive(decode(body) as ToProcess);
});
channel.on('end', die);
channel.on('close', die);
channel.on('error', die);

if (process.ppid !== workerPid) die();
new Worker(new URL('./watchdog-thread.js', import.meta.url), {
  workerData: { workerPid },
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
}).unref();
