import type { Config } from '../config/config-schema.ts';
import type { PlatformConfig } from '../config/platform-schema.ts';
import { planeError } from '../domain/errors/errors.ts';
import { createConsoleAdapter } from '../gateway/platform/adapters/console-adapter.ts';
import { createWebhookAdapter } from '../gateway/platform/adapters/webhook-adapter.ts';
import type { ServedPlatform } from '../gateway/platform/deliver-effect.ts';
import { runOutbound, type AttemptEnd, type RunningOutbound } from '../gateway/platform/run-outbound.ts';
import type { Log } from '../domain/ports/log.ts';
import type { PlatformAdapter } from '../domain/ports/platform-adapter.ts';
import type { EffectList, EffectReader } from '../domain/ports/outbound-store.ts';
import type { DeliveryStore } from '../domain/ports/store.ts';

export type { RunningOutbound } from '../gateway/platform/run-outbound.ts';

export interface OutboundOptions {
  readonly store: DeliveryStore & EffectReader & EffectList;
  readonly config: Pick<Config, 'platforms' | 'effects'>;
  /** The secret of each platform, by platform name. The caller has read them; nothing is read from files here. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Called after each delivery attempt, for metrics. */
  readonly onAttempt?: ((platform: string, end: AttemptEnd) => void) | undefined;
}

const DEFAULT_ATTEMPTS = 10;

/** Delivers the effects of tools to platforms. Runs in `sallyport gateway` and in `sallyport dev`. Undefined when no platform is configured. */
export function startOutbound({
  store,
  config,
  secrets,
  log,
  onAttempt,
}: OutboundOptions): RunningOutbound | undefined {
  const entries = Object.entries(config.platforms ?? {});
  if (entries.length === 0) return undefined;
  const platforms = Object.fromEntries(
    entries.map(([name, given]): [string, ServedPlatform] => {
      const { channels, attempts = DEFAULT_ATTEMPTS } = given;
      return [name, { adapter: createAdapter(name, given, store, secrets[name]), channels, attempts }];
    }),
  );
  const { retentionMs, keptBytes } = config.effects;
  return runOutbound({ platforms, retentionMs, maxKeptBytes: keptBytes }, { store, log, onAttempt });
}

function createAdapter(
  name: string,
  given: PlatformConfig,
  store: EffectReader & EffectList,
  secret: string | undefined,
): PlatformAdapter {
  if (given.adapter === 'console') return createConsoleAdapter(name, store);
  const { url, allow, timeoutMs } = given;
  if (url === undefined || secret === undefined) {
    throw planeError('CONFIG_INVALID', { problems: [`platforms.${name}: its url or its secret is missing`] });
  }
  return createWebhookAdapter(name, {
    url,
    secret,
    ...(allow === undefined ? {} : { allow }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}
