// Makes explore.html of explore.template.html and the module, since a browser
// loads no module from disk:
//
//     node clients/js/make-page.js

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The text of the page. */
export function page() {
  const module = read('bloomtype.js').replace(/^export /gm, '')
  if (module.includes('</script')) throw new Error('the module would end its own script')
  return read('explore.template.html').replace('/* MODULE */\n', () => module)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('explore.html', import.meta.url), page())
}
