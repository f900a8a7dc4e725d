// #region define-service
import { defineService, parseArgument, scopeOf, ServiceFailure } from 'sallyport/service';
import { z } from 'zod';

const COUNTERS = 'counters';
const step = z.strictObject({ name: z.string().min(1).max(64), by: z.int().min(1).max(1000).default(1) });

/** Counters of each subject. Config: `{ most: 100 }`. */
export default defineService({
  methods: ['add', 'all'],
  async start({ config, storage, log }) {
    const most = typeof config['most'] === 'number' ? config['most'] : 100;
    const store = await storage();
    log.info({ most }, 'counting');
    return {
      open: ({ identity }) => {
        // Whose counters they are comes from the session. A tool cannot name anybody else's.
        const scope = scopeOf('subject', identity);
        return {
          async add(given: unknown) {
            const { name, by } = parseArgument(step, given, 'counters.add');
            const scopeVersion = await store.scopeVersion(scope);
            const [before] = await store.read(scope, COUNTERS, [name]);
            const count = Number(before?.body ?? 0) + by;
            const answer = await store.commit(scope, {
              // Refused when anybody has counted since.
              scopeVersion,
              puts: [{ collection: COUNTERS, id: name, body: String(count), most }],
            });
            if (answer.kind !== 'committed')
              throw new ServiceFailure('COUNTERS_BUSY', 'Somebody else counts; try again.');
            return count;
          },
          async all() {
            const found = await store.list(scope, COUNTERS, { limit: most });
            return found.map(({ id, body }) => ({ name: id, count: Number(body) }));
          },
        };
      },
      async health() {
        await store.now();
        return { state: 'ok' };
      },
    };
  },
});
// #endregion
