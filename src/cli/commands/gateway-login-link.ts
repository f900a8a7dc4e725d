import { Command } from 'commander';
import { findGatewayUrl } from '../../compose/gateway-url.ts';
import { createLoginLink, LOGIN_CODE_MS } from '../../gateway/login-link.ts';
import { cliActor } from '../cli-actor.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { SingleOption } from '../single-option.ts';
import { withStore } from '../with-store.ts';

const ORIGIN = /^https?:\/\/[^/?#\s@]+$/;

export function loginLinkCommand(): Command {
  return new Command('login-link')
    .description('Make a link that opens the console, once, within ten minutes')
    .addOption(new SingleOption('--url <url>', 'where people reach the gateway (default: where it serves)', readUrl))
    .action(action(makeLink));
}

function readUrl(text: string): string {
  const url = text.replace(/\/$/, '');
  if (ORIGIN.test(url)) return url;
  throw usage('--url is no address such as https://console.example.com');
}

async function makeLink(context: CommandContext): Promise<void> {
  const { terminal } = context;
  const url = context.options['url'] as string | undefined;
  await withStore(context, async (store, { config }) => {
    const link = await createLoginLink(store, url ?? findGatewayUrl(config), cliActor());
    if (terminal.json) return terminal.printJson({ link, expiresInMs: LOGIN_CODE_MS });
    terminal.print(link);
    terminal.note('It opens the console once, within ten minutes. Whoever has it may do everything there.');
  });
}
