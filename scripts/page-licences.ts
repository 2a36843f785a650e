/** Part of `npm run build` and of the server's `prepack`: the licences of the packages that the scripts of the pages contain. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const FILE = 'server/dist/browser/LICENSES.txt'
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/
const LICENCE = /^(licen[cs]e|copying|notice)/i

process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '../..'))
// esbuild writes it with the scripts.
const { inputs } = JSON.parse(await readFile('build/browser-bundle.json', 'utf8')) as { inputs: object }
const packages = new Set(Object.keys(inputs).flatMap((file) => PACKAGE.exec(join('server', file))?.[0] ?? []))
const licences = await Promise.all([...packages].sort().map(licenceOf))
await writeFile(FILE, licences.join('\n\n'))

async function licenceOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => LICENCE.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return [`${name} ${version}: ${license}`, ...texts.map((text) => text.trim())].join('\n\n')
}
