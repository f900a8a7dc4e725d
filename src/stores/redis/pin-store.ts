import { DEPLOYMENT_LANE } from '../../domain/audit/audit-record.ts';
import type { PinStore, SeenOffer } from '../../domain/ports/pin-store.ts';
import { NO_PINS, type PinsRecord } from '../../domain/upstream/pin.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { recordOfPins } from '../administrative-record.ts';
import { asList, asNumber, asText, wordOf } from './answers.ts';
import type { RedisContext } from './redis-context.ts';

export function createPinStore(context: RedisContext): PinStore {
  const { pins, offers } = context.deployment;

  async function readPins(): Promise<PinsRecord> {
    const [version, body] = asList(await context.command('HMGET', pins, 'version', 'body'));
    if (version === null) return NO_PINS;
    return { version: asNumber(version), upstreams: JSON.parse(asText(body)) as PinsRecord['upstreams'] };
  }

  return {
    readPins,
    async readNewerPins({ after }) {
      const version = await context.command('HGET', pins, 'version');
      return (version === null ? 0 : asNumber(version)) > after ? readPins() : undefined;
    },
    async writePins(request) {
      const { expectedVersion: expected, upstreams } = request;
      const { event, detail } = recordOfPins(request);
      const { meta, audit } = context.lane(DEPLOYMENT_LANE);
      const answer = await context.fcall('write_pins', {
        keys: { meta, audit, pins },
        args: { incarnation: context.incarnation, expected, body: canonicalJson(upstreams as never), event, detail },
      });
      const version = asNumber(asList(answer)[1]);
      return wordOf(answer) === 'WRITTEN' ? { kind: 'written', version } : { kind: 'conflict', version };
    },
    async readOffer({ upstream }) {
      const seen = await context.command('HGET', offers, upstream);
      return seen === null ? undefined : (JSON.parse(asText(seen)) as SeenOffer);
    },
    async reportOffer({ upstream, seen }) {
      await context.command('HSET', offers, upstream, JSON.stringify(seen));
    },
  };
}
