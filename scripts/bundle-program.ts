/**
 * Part of `npm run build` and of the server's `prepack`: the `claimcheck` program, with the threads that it starts, as few files in
 * `server/dist/program`, and beside them the licences of the packages that they, and the scripts of the pages, contain.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundling.ts'

const FOLDER = 'server/dist/program'
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/
const LICENCE = /^(licen[cs]e|copying|notice)/i

process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '../..'))
const { metafile } = await bundle({
  entryPoints: {
    claimcheck: 'server/dist/cli/main.js',
    'sequencer-thread': 'server/dist/sequencer-thread.js',
    'chunk-worker': 'server/dist/upkeep/doctor/chunk-worker.js',
  },
  folder: FOLDER,
})
// Written when the scripts of the pages are bundled.
const pages: typeof metafile = JSON.parse(await readFile('build/browser-bundle.json', 'utf8'))
const inputs = [...Object.keys(metafile.inputs), ...Object.keys(pages.inputs).map((file) => join('server', file))]
const packages = new Set(inputs.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []))
const licences = await Promise.all([...packages].sort().map(licenceOf))
await writeFile(join(FOLDER, 'LICENSES.txt'), licences.join('\n\n'))

async function licenceOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => LICENCE.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return [`${name} ${version}: ${license}`, ...texts.map((text) => text.trim())].join('\n\n')
}
