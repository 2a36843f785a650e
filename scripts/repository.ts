/**
 * `npm run repository -- https://github.com/OWNER/NAME`: writes the address of the repository into every package: npm wants it there for
 * provenance. The root's package.json is where it is read from. Until the owner has chosen an address, the packages name a host that is
 * reserved for examples (RFC 2606), so that it leads to no stranger.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

interface RepositoryFields {
  readonly repository: { readonly type: 'git'; readonly url: string; readonly directory?: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
}

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const ADDRESS = /^https:\/\/[\w.-]+\/[\w./-]*\w$/

/** The folders of the published packages, relative to the root. */
export function packageFolders(): string[] {
  const { workspaces } = readManifest('.') as { workspaces: string[] }
  const folders = workspaces.flatMap((one) => {
    const parent = one.replace(/\/\*$/, '')
    return parent === one ? [one] : readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`)
  })
  return folders.filter((folder) => existsSync(manifestPath(folder)))
}

/** @param address as a browser opens it */
export function repositoryFields(address: string, folder: string): RepositoryFields {
  const directory = folder === '.' ? {} : { directory: folder }
  return {
    repository: { type: 'git', url: `git+${address}.git`, ...directory },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
  }
}

/** The address that the root's package.json names. */
export function repositoryAddress(): string {
  return (readManifest('.') as unknown as RepositoryFields).repository.url.replace(/^git\+|\.git$/g, '')
}

function manifestPath(folder: string): string {
  return join(ROOT, folder, 'package.json')
}

function readManifest(folder: string): object {
  return JSON.parse(readFileSync(manifestPath(folder), 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [address = ''] = process.argv.slice(2)
  if (!ADDRESS.test(address) || address.endsWith('.git')) {
    console.error('Which address? npm run repository -- https://HOST/OWNER/NAME, without .git at its end')
    process.exit(2)
  }
  for (const folder of ['.', ...packageFolders()]) {
    const manifest = { ...readManifest(folder), ...repositoryFields(address, folder) }
    writeFileSync(manifestPath(folder), `${JSON.stringify(manifest, null, 2)}\n`)
  }
  console.log(`Every package names ${address}. Run npm run build: the digests of the plugins follow.`)
}
