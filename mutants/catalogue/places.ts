/** The contract suites of the two stores. One test of them takes a second or two, including the start of a Redis server. */
export const REDIS = 'test/contract/redis.test.ts';
export const EMBEDDED = 'test/contract/embedded.test.ts';

const LUA = 'src/stores/redis/functions';
export const lua = (name: string): string => `${LUA}/${name}.lua`;
export const transition = (name: string): string => `src/stores/embedded/transitions/${name}.ts`;
