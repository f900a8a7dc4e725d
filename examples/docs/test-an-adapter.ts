import test from 'node:test';
import { adapterContract, type AdapterUnderTest, type DeliveryResult, type PlatformAdapter } from 'sallyport/testing';

/** A platform that is one list in memory. */
export function createListAdapter(messages: Map<string, string>): PlatformAdapter {
  return {
    deduplicates: true,
    async deliver({ key, body }): Promise<DeliveryResult> {
      if (body.kind !== 'send') return { kind: 'refused', problem: `it cannot ${body.kind}` };
      messages.set(key, body.message.text);
      return { kind: 'delivered', messageId: key };
    },
  };
}

export async function listUnderTest(): Promise<AdapterUnderTest> {
  const messages = new Map<string, string>();
  return {
    adapter: createListAdapter(messages),
    channel: 'general',
    texts: async () => [...messages.values()],
    close: async () => {},
  };
}

/** Call it from a test file of your own. */
export function testListAdapter(): void {
  for (const { title, run } of adapterContract(listUnderTest)) void test(title, run);
}
