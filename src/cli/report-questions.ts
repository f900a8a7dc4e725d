import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import { findGatewayUrl } from '../operate/gateway-url.ts';
import type { Config } from '../config/config-schema.ts';
import type { CommandContext } from './command-context.ts';
import { showDuration } from './duration.ts';
import { sameStoreCommand } from './own-command.ts';
import { readApprover } from './read-approver.ts';
import { readTurn } from './serial-turn.ts';
import type { KnownSession } from './session-of-call.ts';
import { consoleLine, decideCommands } from './show-question.ts';

const FIRST_MS = 25;
const MAX_MS = 250;
/** After this time, check once whether the call waits for its turn of a serial tool. */
const TURN_AFTER_MS = 1000;

interface Waiting {
  readonly session: KnownSession;
  readonly tool: string;
  readonly callId: string;
  readonly config: Config;
}

/**
 * While the command waits for a call, prints on standard error when an approver is asked about it (once per question), and when the call
 * waits for an earlier call of a serial tool.
 */
export function reportQuestions(context: CommandContext, client: Client, waiting: Waiting): { stop(): void } {
  const stop = new AbortController();
  void watch(context, client, waiting, stop.signal).catch(() => undefined);
  return { stop: () => stop.abort() };
}

async function watch(
  context: CommandContext,
  client: Client,
  { session, tool, callId, config }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  let reported: string | undefined;
  let turnAt = performance.now() + TURN_AFTER_MS;
  for (let pauseMs = FIRST_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, MAX_MS)) {
    await pause(pauseMs, undefined, { signal });
    // The store does not know the call until it has accepted it, so an error means: poll again.
    const answer = await client.result(session, callId).catch(() => undefined);
    if (signal.aborted || answer?.kind === 'settled') return;
    const approval = answer?.kind === 'pending' ? answer.approval : undefined;
    if (answer?.kind === 'pending' && approval === undefined && performance.now() >= turnAt) {
      turnAt = Number.POSITIVE_INFINITY;
      const turn = await readTurn(context, client, { tool, callId });
      if (turn !== undefined && !signal.aborted) warn(context, `the call ${turn}`);
    }
    if (approval === undefined || approval === reported) continue;
    reported = approval;
    await reportQuestion(context, client, approval, config);
  }
}

async function reportQuestion(context: CommandContext, client: Client, id: string, config: Config): Promise<void> {
  const { terminal } = context;
  const { question, expiresAt, requestedAt } = await client.approvals.get(readApprover({}), id);
  const program = sameStoreCommand();
  const gateway = config.gateway.http.enabled ? findGatewayUrl(config) : undefined;
  const consoleUrl = gateway === undefined || gateway.isGuess ? undefined : gateway.url;
  const within = showDuration(expiresAt - requestedAt);
  warn(context, `a person is asked before ${question.tool} runs, and has ${within} to decide; in another terminal:`);
  for (const line of [...decideCommands(program, question), ...consoleLine(question, consoleUrl)]) terminal.hint(line);
}

function warn({ terminal }: CommandContext, text: string): void {
  terminal.showProgress('');
  terminal.warn(text);
}
