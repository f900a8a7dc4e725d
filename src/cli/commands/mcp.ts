import { Command, Option } from 'commander';
import { connect } from '../../compose/connect.ts';
import { hasCalls } from '../../operate/has-calls.ts';
import { openStore } from '../../operate/open-store.ts';
import { RELEASE } from '../../base/release.ts';
import { createLog } from '../../observe/log.ts';
import { createAgentSessions } from '../../gateway/agent-sessions.ts';
import type { Authenticated } from '../../gateway/authenticated.ts';
import { warnOfUndeclared } from '../../domain/identity/undeclared-agent.ts';
import { serveMcpOnStdio } from '../../gateway/mcp/stdio.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { cliActor } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { lostOutput, usage } from '../command-failure.ts';
import { readIdentity } from '../read-agent.ts';
import { createLevelledLog } from '../levelled-log.ts';
import { SingleOption } from '../single-option.ts';
import { commandStoreOptions, refuseMissingStore } from '../with-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Max lifetime of the session that this command opens. A client that starts the command again gets a new session. */
const LIFETIME_MS = 30 * DAY_MS;

interface McpFlags {
  readonly agent?: string;
}

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Serve the tools of one agent to an MCP client, on standard input and output')
    .addOption(new SingleOption('--agent <name>', 'the agent whose tools are served'))
    .addOption(new SingleOption('--subject <name>', 'who calls are made for (default: local)'))
    .addOption(new SingleOption('--tenant <name>', 'the tenant of the subject (default: default)'))
    .addOption(new Option('--unattended', 'no person watches: what would ask one is denied at once'))
    .action(action(serve));
}

async function serve(context: CommandContext): Promise<void> {
  const given = context.options as McpFlags;
  if (given.agent === undefined) throw usage('Which agent?', 'Name it: sallyport mcp --agent NAME');
  // The session is opened with the first request, where a client could not tell a wrong name from a broken server.
  const { tenant, subject, agent, unattended } = readIdentity(given.agent, context.options);
  const loaded = context.loadConfig();
  const { config } = loaded;
  // Standard output is used only for the protocol. The log goes to standard error, which MCP clients show.
  const log = createLevelledLog(config.log.level ?? 'warn', createLog('debug'));
  const storeOptions = commandStoreOptions(loaded, { running: true });
  await refuseMissingStore(storeOptions);
  const client = await connect({
    ...storeOptions,
    admission: config.admission,
    retentionMs: config.worker.retentionMs,
    log,
    actor: cliActor(),
  });
  const store = await openStore(storeOptions);
  const { policy } = await store.readPolicy();
  for (const warning of warnOfUndeclared(policy, { tenant, agent })) context.terminal.warn(warning);
  const bearer: Authenticated = {
    via: 'token',
    id: `stdio-${randomId()}`,
    name: 'stdio',
    scopes: new Set(['agent']),
    identity: { tenant, subject, agent },
    ...(unattended === true ? { unattended } : {}),
    expiresAt: Date.now() + LIFETIME_MS,
    actor: cliActor(),
  };
  const sessions = createAgentSessions(client, { hasCalls: (session, run) => hasCalls(store, session, run) });
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => (failure ??= error));
  const endpoint = serveMcpOnStdio({ config, client, store, sessions, log, release: RELEASE }, bearer);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  try {
    await Promise.race([endpoint.ended, stopped]);
  } finally {
    await endpoint.close();
    await sessions.leave(bearer.id);
    await client.close();
    await store.close();
  }
  // A client that has gone closes its pipe. Any other error means that answers were lost.
  if (failure !== undefined && failure.code !== 'EPIPE') throw lostOutput(failure);
}
