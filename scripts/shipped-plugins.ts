/**
 * Part of `npm run build`, and with `--packed` of the server's `prepack`: lists the plugins that come with the server by their places and
 * digests, in `server/dist/shipped-plugins.json`.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { codeHashOf } from '@claimcheck/server/plugins/package-files'
import type { ShippedPlugin } from '@claimcheck/server/plugins/shipped'

interface Packed {
  readonly name: string
  readonly files: readonly { readonly path: string }[]
}

const LIST = 'server/dist/shipped-plugins.json'
const FOLDERS = ['anchor-eas', 'codehost', 'http', 'registry', 'signer-pkcs11'].map((name) => `plugins/${name}`)

process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '../..'))
const inCheckout = FOLDERS.map(async (folder) => ({
  path: `../${folder}`,
  codeHash: await codeHashOf(resolve(folder)),
}))
const plugins: ShippedPlugin[] = await Promise.all(inCheckout)
if (process.argv.includes('--packed')) plugins.push(...(await packedPlugins()))
const text = `${JSON.stringify(plugins, undefined, 2)}\n`
if (text !== (await readFile(LIST, 'utf8').catch(() => undefined))) await writeFile(LIST, text)

/**
 * Lists the plugins as npm installs them: next to the server, in the folder of their scope. A packed package has fewer files than its folder
 * here.
 */
async function packedPlugins(): Promise<ShippedPlugin[]> {
  const args = [
    'pack',
    '--dry-run',
    '--json',
    '--ignore-scripts',
    ...FOLDERS.flatMap((folder) => ['--workspace', folder]),
  ]
  // The settings of the npm that runs this are not for this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_config_(workspace|json|pack)/i.test(name)),
  )
  const { stdout } = await promisify(execFile)('npm', args, { env, maxBuffer: 64 * 1024 * 1024 })
  const packed = Object.values(JSON.parse(stdout) as Readonly<Record<string, Packed>>)
  const temporary = await mkdtemp(join(tmpdir(), 'claimcheck-packed-'))
  try {
    return await Promise.all(
      FOLDERS.map(async (folder) => {
        const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
        const { files } = packed.find((one) => one.name === name)!
        const copy = join(temporary, folder)
        for (const { path } of files) await cp(join(folder, path), join(copy, path))
        return { path: `../${name.split('/')[1]}`, codeHash: await codeHashOf(copy) }
      }),
    )
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
