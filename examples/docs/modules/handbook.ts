// #region surfaces
import { defineModule, prompt, resource } from 'sallyport/tool';
import { z } from 'zod';

const pages = new Map([
  ['welcome', 'We are glad that you are here.'],
  ['travel', 'Trips of up to 500 euros need no approval.'],
]);

export default defineModule({
  id: 'handbook',
  version: '1.0.0',
  description: 'The handbook of the company.',
  tools: {},
  resources: [
    resource({
      name: 'index',
      uri: 'handbook://index',
      title: 'All pages',
      mediaType: 'text/plain',
      read: () => [...pages.keys()].join('\n'),
    }),
    resource({
      name: 'page',
      uriTemplate: 'handbook://pages/{page}',
      mediaType: 'text/markdown',
      // `undefined` means that there is no such page.
      read: ({ page }) => pages.get(page ?? ''),
      complete: ({ value }) => [...pages.keys()].filter((page) => page.startsWith(value)),
    }),
  ],
  prompts: [
    prompt({
      name: 'explain',
      description: 'Explains a page to somebody new.',
      arguments: z.object({ page: z.string().describe('Which page') }),
      render: ({ page }) => [
        { role: 'user', content: `Explain this to somebody who is new here:\n\n${pages.get(page) ?? 'nothing'}` },
      ],
    }),
  ],
});
// #endregion
