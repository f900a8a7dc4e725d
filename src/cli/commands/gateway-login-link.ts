import { Command } from 'commander';
import { findGatewayUrl } from '../../operate/gateway-url.ts';
import { systemUser } from '../../base/system-user.ts';
import type { TokenScope } from '../../domain/identity/gateway-token.ts';
import { createLoginLink, LOGIN_CODE_MS, LOGIN_SCOPES } from '../../gateway/login-link.ts';
import { scopeOption } from '../add-scope.ts';
import { cliActor } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { refuseLostOutput } from '../refuse-lost-output.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

interface Options {
  readonly url?: string;
  readonly name?: string;
  readonly scope?: readonly TokenScope[];
}

const ORIGIN = /^https?:\/\/[^/?#\s@]+$/;

export function loginLinkCommand(): Command {
  return new Command('login-link')
    .description('Make a link that opens the console, once, within ten minutes')
    .addOption(
      new SingleOption('--url <url>', 'where people reach the gateway (default: as its configuration says)', readUrl),
    )
    .addOption(new SingleOption('--name <name>', 'who logs in; stands in the audit and in approvals (default: you)'))
    .addOption(
      scopeOption(LOGIN_SCOPES, 'what the login may do; can be repeated; default: operator, approver and admin'),
    )
    .action(action(makeLink));
}

function readUrl(text: string): string {
  const url = text.replace(/\/$/, '');
  if (ORIGIN.test(url)) return url;
  throw usage('--url is no address such as https://console.example.com');
}

async function makeLink(context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { url, name = systemUser(), scope: scopes } = context.options as Options;
  refuseLostOutput('The link', 'Run the command where its output can be read.');
  await withStore(context, async (store, { config }) => {
    const found = url === undefined ? findGatewayUrl(config) : { url, isGuess: false };
    const link = await createLoginLink(store, found.url, cliActor(), {
      name,
      ...(scopes === undefined ? {} : { scopes }),
    });
    if (found.isGuess) {
      const how = 'name it with --url, or give --config FILE of the gateway';
      terminal.warn(`${found.url} is a guess: this command does not know where the gateway serves; ${how}`);
    }
    if (terminal.json) return terminal.printJson({ link, name, expiresInMs: LOGIN_CODE_MS });
    terminal.print(link);
    const may = scopes === undefined ? 'do everything there' : `do there what ${scopes.join(' and ')} may`;
    terminal.note(`It opens the console once, within ten minutes, as ${name}. Its holder may ${may}.`);
  });
}
