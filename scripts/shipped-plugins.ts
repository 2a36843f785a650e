/** Part of `npm run build`: lists the plugins that come with the server by their digests, in `server/dist/shipped-plugins.json`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeHashOf } from '@claimcheck/server/plugins/package-files'
import type { ShippedPlugin } from '@claimcheck/server/plugins/shipped'

const LIST = 'server/dist/shipped-plugins.json'

const plugins: ShippedPlugin[] = []
for (const name of ['anchor-eas', 'codehost', 'http', 'registry']) {
  plugins.push({ path: `../plugins/${name}`, codeHash: await codeHashOf(resolve('plugins', name)) })
}
const text = `${JSON.stringify(plugins, undefined, 2)}\n`
if (text !== current()) writeFileSync(LIST, text)

function current(): string | undefined {
  try {
    return readFileSync(LIST, 'utf8')
  } catch {
    return undefined
  }
}
