import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './process.ts';
import { startProgram } from './watched-process.ts';

export interface TlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** The CA as PEM text, ready for a client's `tls.ca`. */
  readonly ca: string;
  remove(): void;
}

// A separate configuration, so that the extensions do not depend on the machine's openssl.cnf.
const CONFIGURATION = `
[req]
distinguished_name = name
prompt = no
[name]
CN = Sallyport test
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[server]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, DNS:localhost
`;
const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';

/** Creates a CA and a server certificate for 127.0.0.1 and localhost. Two calls give two CAs that do not trust each other. */
export async function makeTlsFiles(): Promise<TlsFiles> {
  const folder = temporaryFolder('sallyport-tls');
  const file = (name: string): string => join(folder.path, name);
  writeFileSync(file('openssl.cnf'), CONFIGURATION);

  for (const command of [
    `req -x509 -config openssl.cnf -extensions authority ${NEW_KEY} -days 2 -keyout ca.key -out ca.crt`,
    `req -config openssl.cnf ${NEW_KEY} -subj /CN=localhost -keyout server.key -out server.csr`,
    'x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -extfile openssl.cnf -extensions server -days 2 -out server.crt',
  ]) {
    await openssl(command, folder.path);
  }

  return {
    caFile: file('ca.crt'),
    certFile: file('server.crt'),
    keyFile: file('server.key'),
    ca: readFileSync(file('ca.crt'), 'utf8'),
    remove: () => folder.remove(),
  };
}

/** Runs inside the folder, so that file names have no spaces, whatever the path of the temporary folder is. */
async function openssl(command: string, cwd: string): Promise<void> {
  const child = await startProgram('openssl', command.split(' '), {
    cwd,
    installHint: 'The TLS tests make their certificates with it: apt-get install openssl.',
  });
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`openssl ${command} ended with ${code}: ${child.stderr}`);
}
