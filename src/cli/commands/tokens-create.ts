import { Command, InvalidArgumentError, Option } from 'commander';
import { planeError } from '../../domain/errors/errors.ts';
import {
  TOKEN_LIMITS,
  TOKEN_SCOPES,
  type GatewayToken,
  type NewToken,
  type TokenScope,
} from '../../domain/identity/gateway-token.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { warnOfUndeclared } from '../../domain/identity/undeclared-agent.ts';
import type { CreateTokenRequest, TokenIssuing } from '../../domain/ports/token-store.ts';
import { newTokenText } from '../../domain/identity/token-text.ts';
import { scopeOption } from '../add-scope.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { durationUpTo } from '../duration.ts';
import { writeNewFile } from '../open-new-file.ts';
import { refuseLostOutput } from '../refuse-lost-output.ts';
import { SingleOption } from '../single-option.ts';
import { withFoundedStore } from '../with-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const readLifetime = durationUpTo(TOKEN_LIMITS.maxLifetimeMs / DAY_MS);
const IDENTITY = ['tenant', 'subject', 'agent', 'channel', 'space', 'platform'] as const;

export function tokensCreateCommand(): Command {
  const command = new Command('create')
    .description('Make a token for the gateway and print it, once')
    .argument('<name>', 'who or what it is for; stands in the audit')
    .addOption(scopeOption(TOKEN_SCOPES, 'what it may do; can be repeated'));
  for (const name of IDENTITY) {
    command.addOption(new SingleOption(`--${name} <text>`, `with --scope agent: the ${name} of its calls`));
  }
  return command
    .addOption(
      new SingleOption('--decides-as <who>', 'with --scope approver: only what TENANT/SUBJECT may decide', readSubject),
    )
    .addOption(new Option('--unattended', 'with --scope agent or sessions: every session that it opens is unattended'))
    .addOption(new SingleOption('--expires <duration>', 'when it ends (default: 30d, at most 366d)', readLifetime))
    .addOption(
      new SingleOption('--out <path>', 'write it to a new file that only you can read, instead of printing it'),
    )
    .addOption(commentOption())
    .action(action(create));
}

async function create(context: CommandContext, name: string): Promise<void> {
  const { terminal, options } = context;
  const made = newTokenText();
  const token = readToken(made.id, name, options);
  const { expires: lifetimeMs = TOKEN_LIMITS.defaultLifetimeMs, out } = options as { expires?: number; out?: string };
  if (out === undefined) refuseLostOutput('The token', 'Write it to a file: --out FILE');
  await withFoundedStore(context, async (store) => {
    const request = { token, secretDigest: made.secretDigest, lifetimeMs, ...administeredBy(context) };
    const keepIt = (): Promise<GatewayToken> => keep(store, request);
    const kept = await (out === undefined ? keepIt() : writeNewFile(out, keepIt, () => made.text));
    if (token.identity !== undefined) {
      const { policy } = await store.readPolicy();
      for (const warning of warnOfUndeclared(policy, token.identity)) terminal.warn(warning);
    }
    const place = out === undefined ? { token: made.text } : { out };
    const undo = `To take it back: sallyport tokens revoke ${made.id}`;
    if (terminal.json) {
      // The JSON has the id too. But if standard output is lost, only this hint on standard error names it.
      terminal.hint(undo);
      return terminal.printJson({ ...kept, ...place });
    }
    terminal.print(out === undefined ? made.text : `${out}: token ${made.id}`);
    const once = out === undefined ? 'It is shown this once. ' : '';
    const until = new Date(kept.expiresAt).toISOString();
    terminal.note(`Until ${until}. ${once}${undo}`);
  });
}

async function keep(store: TokenIssuing, request: CreateTokenRequest): Promise<GatewayToken> {
  const answer = await store.createToken(request);
  if (answer.kind === 'created') return answer.token;
  throw planeError('TOKENS_FULL', { most: TOKEN_LIMITS.maxTokens });
}

function readSubject(text: string): string {
  if (text.startsWith('/') || text.endsWith('/')) throw new InvalidArgumentError('Expected TENANT/SUBJECT or SUBJECT.');
  return text.includes('/') ? text : `default/${text}`;
}

interface TokenFlags {
  readonly scope?: TokenScope[];
  readonly decidesAs?: string;
  readonly unattended?: boolean;
}

function readToken(id: string, name: string, options: CommandContext['options']): NewToken {
  const { scope: scopes, decidesAs, unattended } = options as TokenFlags;
  if (scopes === undefined) throw usage(`Say what it may do: --scope ${TOKEN_SCOPES.join('|')}`);
  if (decidesAs !== undefined && !scopes.includes('approver')) throw usage('--decides-as goes with --scope approver.');
  const given = IDENTITY.filter((field) => options[field] !== undefined);
  const isAgent = scopes.includes('agent');
  if (!isAgent && given.length > 0) throw usage(`--${given[0]} goes with --scope agent.`);
  if (isAgent && !(given.includes('agent') && given.includes('subject'))) {
    throw usage('Say who calls, and for whom: --agent NAME --subject NAME');
  }
  const identity = { tenant: 'default', ...Object.fromEntries(given.map((field) => [field, options[field]])) };
  return {
    id,
    name,
    scopes,
    ...(isAgent ? { identity: identity as Identity } : {}),
    ...(decidesAs === undefined ? {} : { decidesAs }),
    ...(unattended === true ? { unattended } : {}),
  };
}
