// Runs a command that does not end by itself, and stops it as soon as it reports that it is ready; see page-shell.ts.
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
let text = '';
child.stdout.setEncoding('utf8').on('data', (chunk) => {
  process.stdout.write(chunk);
  text += chunk;
  if (/^Health: /m.test(text)) child.kill('SIGTERM');
});
child.once('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
