import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';
import { MAIN, type CliResult } from './run-cli.ts';

/** The only plane of these tests. There is no store in the folder where the commands are typed, so a command without this flag ends with 69. */
const FLAG = '--folder elsewhere';
const PERMISSIONS = { '*': { allow: ['*'] } };
const SELECTION = [{ module: 'basic', tools: ['echo', 'progress'] }];
const POLICY = { permissions: PERMISSIONS, agents: { main: { selection: SELECTION }, cli: { selection: SELECTION } } };

let plane: PlaneFolder;
let dev: WatchedProcess;
beforeAll(async () => {
  plane = planeFolder();
  writeFileSync(plane.file('FILE'), JSON.stringify(POLICY));
  writeFileSync(plane.file('less.json'), JSON.stringify({ permissions: PERMISSIONS }));
  dev = await plane.start('dev', ['--folder', 'elsewhere']);
  await there('policy', 'set', 'FILE');
});
afterAll(async () => {
  await dev.stop();
  plane.remove();
  failOnLeaks();
});

const there = (...args: string[]): Promise<CliResult> => plane.cli('--folder', 'elsewhere', ...args);
const textOf = ({ stdout, stderr }: CliResult): string => `${stdout}\n${stderr}`;

/** Runs a command as it was printed, with this program under its name. */
const paste = (command: string): Promise<CliResult> =>
  plane.shell(`sallyport() { '${process.execPath}' '${MAIN}' "$@"; }; ${command}`);

/** The printed commands of this program; those that show help need no store. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w./-])sallyport (?=-|[a-z]+ ?[a-z-]*).*?(?=\. [A-Z]|\.?$|\)|, | in the policy)/gm)]
    .map(([command]) => command)
    .filter((command) => !command.endsWith('--help'));

/** The commands that print what to type next, with the start of what they print. */
const PRINTING: readonly (readonly [args: readonly string[], printed: string])[] = [
  [['pause', 'agent', 'z'], 'pause agent z --resume'],
  [['pause', 'tool', 'basic.echo'], 'pause tool basic.echo --resume'],
  [['pause', 'all'], 'pause all --resume'],
  [['tokens', 'create', 'ci', '--scope', 'operator'], 'tokens revoke '],
  [['tokens', 'create', 'ci', '--scope', 'operator', '--json'], 'tokens revoke '],
  [['sessions', 'open', '--subject', 'ada', '--agent', 'main'], 'sessions revoke '],
  [['sessions', 'revoke', 'nope'], 'sessions list'],
  [['sessions', 'end-run', 'nope', 'run'], 'sessions list --json'],
  [['call', 'basic.echo', '{"text":"x"}', '--detach'], 'calls wait '],
  [['calls', 'list'], 'calls list --state settled'],
  [['policy', 'show'], 'policy set FILE --expect '],
  [['policy', 'set', 'less.json'], 'policy show'],
  [['catalog', 'show', 'no.tool'], 'catalog'],
  [['agents', 'show', 'nobody'], 'agents list'],
  [['messages', 'show', 'nope'], 'messages list'],
  [['approvals', 'show', 'nope'], 'approvals list'],
  [['grants', 'revoke', 'nope'], 'grants list'],
  [['tokens', 'revoke', 'nope'], 'tokens list'],
];

describe('what a command prints to type next acts on the store of that command', () => {
  it.each(PRINTING)('sallyport %j prints %s', async (args, printed) => {
    const shown = await there(...args);
    const commands = commandsIn(textOf(shown));
    expect(commands).toContainEqual(expect.stringContaining(`sallyport ${FLAG} ${printed}`));
    const command = commands.find((one) => one.includes(printed))!;
    expect(await paste(command)).toMatchObject({ code: 0 });
    // Everything that these commands print carries the flag, also what the table does not name.
    for (const each of commands) expect(each).toContain(`sallyport ${FLAG} `);
  });

  it('an agent that is paused is resumed by the printed command', async () => {
    const { stderr } = await there('pause', 'agent', 'rogue');
    expect((await there('pause')).stdout).toContain('agents rogue');
    await paste(commandsIn(stderr)[0]!);
    expect((await there('pause')).stdout).toBe('Nothing is paused.\n');
  });

  it('the plane itself prints such commands, and explain and doctor do', async () => {
    expect(commandsIn(dev.stdout)).toEqual([
      `sallyport ${FLAG} policy show`,
      `sallyport ${FLAG} call basic.progress '{}'`,
    ]);
    for (const command of commandsIn(dev.stdout)) expect(await paste(command)).toMatchObject({ code: 0 });
    await there('pause', 'agent', 'main');
    const explained = await there('explain', 'main', 'basic.echo');
    expect(commandsIn(explained.stdout)).toEqual([`sallyport ${FLAG} pause agent main --resume`]);
    expect(await paste(commandsIn(explained.stdout)[0]!)).toMatchObject({ code: 0 });
    const doctor = await plane.cli('--folder', 'nowhere', 'doctor');
    expect(doctor.stdout).toContain('fix: sallyport --folder nowhere dev --modules PATH');
    expect((await plane.cli('--folder', 'nowhere', 'calls', 'list')).stderr).toContain(
      'Start one with: sallyport --folder nowhere dev --modules PATH. Or name another with --folder.',
    );
  });

  it('a restored store is adopted by the printed command', async () => {
    expect(await there('store', 'backup', 'copy')).toMatchObject({ code: 0 });
    const restored = await plane.cli('--folder', 'my restored', 'store', 'restore', 'copy');
    const [command] = commandsIn(restored.stdout);
    expect(command).toBe("sallyport --folder 'my restored' store adopt");
    expect((await paste(`${command} --yes`)).stdout).toContain('incarnation');
  });

  it('a configuration file is named again', async () => {
    writeFileSync(plane.file('other.yaml'), 'folder: elsewhere\n');
    const { stderr } = await plane.cli('--config', 'other.yaml', 'pause', 'agent', 'z');
    expect(commandsIn(stderr)).toEqual(['sallyport --config other.yaml pause agent z --resume']);
    expect(await paste(commandsIn(stderr)[0]!)).toMatchObject({ code: 0, stdout: 'Nothing is paused.\n' });
  });
});
