import { createLog } from '../observe/log.ts';
import type { SecretProvider } from '../domain/secret/secret-provider.ts';
import type { UpstreamOffer } from '../domain/upstream/definition.ts';
import type { Upstream } from '../domain/upstream/upstream.ts';
import { Instances } from '../upstreams/connect/instances.ts';
import { createSecretSource } from '../worker/secrets/create-secret-source.ts';

export interface LookNeeds {
  /** The home folder of a program is made in it. */
  readonly folder: string;
  readonly providers: readonly SecretProvider[];
  /** Receives what a program prints on its standard error output. */
  readonly onPrinted: (line: string) => void;
}

export type Looked =
  | { readonly kind: 'seen'; readonly offer: UpstreamOffer }
  | { readonly kind: 'problem'; readonly problem: string };

/** Connects to an MCP server once, reads what it offers, and ends the connection. */
export async function lookAtUpstream(upstream: Upstream, { folder, providers, onPrinted }: LookNeeds): Promise<Looked> {
  let offer: UpstreamOffer | undefined;
  const quiet = createLog('error');
  const instances = new Instances(upstream, {
    secrets: createSecretSource(providers),
    log: {
      ...quiet,
      debug: () => undefined,
      warn: () => undefined,
      info: (facts) => 'printed' in facts && onPrinted(String(facts.printed)),
    },
    folder,
    onOffer: (_, seen) => void (offer = seen),
  });
  try {
    await instances.look();
    return { kind: 'seen', offer: offer! };
  } catch (error) {
    return { kind: 'problem', problem: error instanceof Error ? error.message : 'it failed' };
  } finally {
    await instances.close();
  }
}
