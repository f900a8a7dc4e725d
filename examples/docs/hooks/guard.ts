import { defineHooks } from 'sallyport/gate';

export default defineHooks({
  id: 'guard',
  hooks: [
    {
      id: 'no-dotfiles',
      on: 'before_tool_call',
      tools: ['files.write'],
      run: ({ arguments: { path } }) =>
        typeof path === 'string' && path.includes('/.')
          ? { block: true, reason: 'Hidden files are not written.' }
          : undefined,
    },
  ],
});
