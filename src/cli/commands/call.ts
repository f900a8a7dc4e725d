import { Command, Option } from 'commander';
import { nearNames } from '../../base/near-names.ts';
import type { CallAnswer, CallInput, Client } from '../../client/client.ts';
import { connect } from '../../compose/connect.ts';
import type { CallEvent } from '../../domain/call/call-event.ts';
import type { RequiredInput } from '../../domain/call/input.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { APPROVAL_LIMITS } from '../../domain/policy/approval.ts';
import { UNSERVED } from '../../domain/tool/serving.ts';
import { escapeJson } from '../../base/escape-text.ts';
import { callIdFor, randomId } from '../../domain/identity/new-id.ts';
import { cliActor } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { readDuration } from '../duration.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../on-interrupt.ts';
import { readCallArguments } from '../read-call-arguments.ts';
import { saveFiles } from '../save-files.ts';
import { readTurn } from '../serial-turn.ts';
import { readKnownSession, type KnownSession } from '../session-of-call.ts';
import { exitCodeOf, showOutcome } from '../show-outcome.ts';
import { SingleOption } from '../single-option.ts';
import { reportQuestions } from '../report-questions.ts';
import { commandStoreOptions, refuseMissingStore } from '../with-store.ts';

/** A session ends if no call uses it for this long. The time does not run while a person is asked about a call. */
const IDLE_MS = 10 * 60_000;

interface CallFlags {
  readonly args?: string;
  readonly subject?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly platform?: string;
  readonly channel?: string;
  readonly unattended?: boolean;
  readonly answers?: string;
  readonly state?: string;
  readonly key?: string;
  readonly deadline?: number;
  readonly wait?: number;
  readonly detach?: boolean;
  readonly progress?: boolean;
  readonly raw?: boolean;
  readonly save?: string;
}

export function callCommand(): Command {
  return new Command('call')
    .description('Call a tool and wait for its outcome')
    .argument('<tool>', 'module.tool')
    .argument('[arguments]', 'JSON object, @FILE, or @- for standard input')
    .addOption(new SingleOption('--args <json>', 'the arguments, as a flag'))
    .addOption(new SingleOption('--subject <name>', 'who the call is made for (default: local)'))
    .addOption(new SingleOption('--agent <name>', 'the agent that calls (default: cli)'))
    .addOption(new SingleOption('--tenant <name>', 'the tenant of the subject (default: default)'))
    .addOption(new SingleOption('--platform <name>', 'the platform the session is on, such as console in dev'))
    .addOption(new SingleOption('--channel <name>', 'its channel there: what tools send goes to it'))
    .addOption(new Option('--unattended', 'no person watches: what would ask one is denied at once'))
    .addOption(
      new SingleOption('--session-file <path>', 'call with this session instead, as `sessions open --out` wrote it'),
    )
    .addOption(new SingleOption('--answers <json>', 'answers to what the tool asked for, by name; JSON or @FILE'))
    .addOption(new SingleOption('--state <text>', 'the state that came with its questions'))
    .addOption(new SingleOption('--key <key>', 'the same key with the same arguments is the same call'))
    .addOption(new SingleOption('--deadline <duration>', 'when the call ends, such as 30s', readDuration))
    .addOption(new SingleOption('--wait <duration>', "how long to wait here (default: the tool's own)", readDuration))
    .addOption(new Option('--detach', 'do not wait; print the call id').conflicts(['wait', 'save']))
    .addOption(new Option('--progress', 'show progress also when it is not a terminal'))
    .addOption(new SingleOption('--save <folder>', 'save the files the tool hands over'))
    .addOption(new Option('--raw', 'print text as it is; not to a terminal').conflicts('json'))
    .action(action(callTool));
}

async function callTool(context: CommandContext, tool: string, positional: string | undefined): Promise<number> {
  const { terminal } = context;
  const flags = context.options as CallFlags;
  if (positional !== undefined && flags.args !== undefined) throw usage('The arguments are given twice.');
  if (flags.raw === true && process.stdout.isTTY)
    throw usage('--raw does not print to a terminal.', 'Send it to a file or a pipe.');
  const args = await readCallArguments(positional ?? flags.args ?? '{}');
  const input = await readInput(flags);
  const known = readKnownSession(context.options);
  const loaded = context.loadConfig();
  const storeOptions = commandStoreOptions(loaded, { running: true });
  await refuseMissingStore(storeOptions);
  const client = await connect({
    ...storeOptions,
    admission: loaded.config.admission,
    retentionMs: loaded.config.worker.retentionMs,
    actor: cliActor(),
  });
  try {
    const session = known ?? (await openSession(client, flags));
    const key = flags.key ?? randomId();
    const calling = client.call(session, tool, args, {
      key,
      ...(input === undefined ? {} : { input }),
      ...(flags.deadline === undefined ? {} : { deadlineMs: flags.deadline }),
      ...(flags.detach === true ? { waitMs: 0 } : flags.wait === undefined ? {} : { waitMs: flags.wait }),
      ...(terminal.interactive || flags.progress === true ? { onEvent: showEvents(context) } : {}),
    });
    const callId = callIdFor(session.id, key);
    const asking =
      flags.detach === true || callId === undefined
        ? undefined
        : reportQuestions(context, client, { session, tool, callId, config: loaded.config });
    const answer = await Promise.race([calling, onInterrupt()]).finally(() => asking?.stop());
    terminal.showProgress('');
    // The call id is computed from the session and the key, so it is known even before the store has answered.
    if (answer === 'interrupted') return showPending(context, callId ?? '', 'Stopped waiting; the call goes on');
    return await showAnswer(context, client, tool, answer);
  } finally {
    await client.close();
  }
}

async function readInput({ answers, state }: CallFlags): Promise<CallInput | undefined> {
  if (answers === undefined && state === undefined) return undefined;
  const responses = answers === undefined ? {} : { responses: await readCallArguments(answers) };
  return { ...responses, ...(state === undefined ? {} : { state }) };
}

function openSession(client: Client, flags: CallFlags): Promise<KnownSession> {
  const idleMs = (flags.deadline ?? 0) + IDLE_MS;
  return client.openSession({
    subject: flags.subject ?? 'local',
    agent: flags.agent ?? 'cli',
    ...(flags.tenant === undefined ? {} : { tenant: flags.tenant }),
    ...(flags.platform === undefined ? {} : { platform: flags.platform }),
    ...(flags.channel === undefined ? {} : { channel: flags.channel }),
    ...(flags.unattended === true ? { unattended: true } : {}),
    // A question ends with the session of its call, so the session must outlive the longest question.
    lifetimeMs: APPROVAL_LIMITS.maxTimeoutMs + idleMs,
    idleMs,
  });
}

function showEvents({ terminal, options }: CommandContext): (event: CallEvent) => void {
  const show = (text: string): void =>
    options['progress'] === true ? terminal.note(text) : terminal.showProgress(text);
  return (event) => {
    if (event.kind === 'queued') show(`queued as ${event.callId}`);
    else if (event.kind === 'started') show('started');
    else if (event.kind === 'logged')
      show(`${event.level}: ${typeof event.data === 'string' ? event.data : escapeJson(JSON.stringify(event.data))}`);
    else if (event.kind === 'progress') {
      const part =
        event.done === undefined ? '' : ` ${event.done}${event.total === undefined ? '' : ` of ${event.total}`}`;
      show(`working${part}${event.message === undefined ? '' : `: ${event.message}`}`);
    }
  };
}

async function showAnswer(context: CommandContext, client: Client, tool: string, answer: CallAnswer): Promise<number> {
  const { terminal, options } = context;
  if (answer.kind === 'pending') {
    const detached = options['detach'] === true;
    const turn = await readTurn(context, client, { tool, callId: answer.callId });
    const [begin, alone] = detached ? ['Accepted. The call', 'Accepted'] : ['The call', 'The call goes on'];
    showPending(context, answer.callId, turn === undefined ? alone : `${begin} ${turn}`);
    await warnOfUnserved(context, client, tool);
    return detached ? EXIT.ok : EXIT.notOk;
  }
  const { outcome } = answer;
  const folder = options['save'] as string | undefined;
  const saved = folder === undefined ? [] : saveFiles(outcome.writeBacks?.files ?? [], folder);
  if (terminal.json) {
    const callId = answer.kind === 'settled' ? { callId: answer.callId } : {};
    terminal.printJson({ ...callId, outcome, ...(folder === undefined ? {} : { saved }) });
    return exitCodeOf(outcome);
  }
  const code = showOutcome(terminal, outcome, options);
  for (const path of saved) terminal.note(`saved ${path}`);
  if (answer.kind === 'settled' && answer.input !== undefined) showQuestions(context, answer.input);
  if (answer.kind === 'settled' && outcome.kind !== 'ok') terminal.note(`call ${answer.callId}`);
  if (outcome.kind === 'expired') await warnOfUnserved(context, client, tool);
  if (outcome.error?.code === 'TOOL_UNKNOWN') await suggestTool(context, client, tool, outcome);
  return code;
}

function showQuestions({ terminal }: CommandContext, { requests, state, problems = {} }: RequiredInput): void {
  for (const [name, request] of Object.entries(requests)) {
    const why = problems[name] === undefined ? '' : ` (${problems[name].join('; ')})`;
    terminal.note(`asks for ${name}${why}: ${escapeJson(JSON.stringify(request))}`);
  }
  if (state !== undefined) terminal.note(`state: ${state}`);
}

function showPending({ terminal }: CommandContext, callId: string, what: string): number {
  if (terminal.json) terminal.printJson({ callId, pending: true });
  else {
    terminal.print(callId);
    terminal.note(`${what}. Its outcome: sallyport calls wait ${callId}`);
  }
  return EXIT.notOk;
}

/** Warns if no live worker serves the tool: a pending call may wait, or an expired call may have waited, for a worker that does not exist. */
async function warnOfUnserved({ terminal }: CommandContext, client: Client, tool: string): Promise<void> {
  const unserved: readonly string[] = await client.unservedTools();
  if (unserved.includes(tool)) terminal.warn(`${tool} is ${UNSERVED}`);
}

async function suggestTool(
  { terminal }: CommandContext,
  client: Client,
  tool: string,
  outcome: Outcome,
): Promise<void> {
  const near = outcome.error?.facts?.['near'];
  if (Array.isArray(near) && near.length > 0) return;
  const { modules } = await client.catalog();
  const known = modules.flatMap((module) => module.tools.map(({ id }) => id as string));
  const guesses = nearNames(tool, known);
  if (guesses.length > 0) terminal.note(`Did you mean ${guesses.join(', ')}?`);
}
