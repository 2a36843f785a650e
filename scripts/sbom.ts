/**
 * `npm run sbom`: writes the bill of materials (CycloneDX) of the server to `server/dist/sbom.cdx.json`, which `npm pack` takes along. It
 * comes from the lockfile alone, so it needs no network.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

interface Component {
  readonly 'bom-ref': string
  readonly purl: string
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

interface Sbom {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const FILE = 'server/dist/sbom.cdx.json'
const MOST_BYTES = 64 * 1024 * 1024
const execute = promisify(execFile)

/** @param name of a package of this repository */
export async function sbomOf(name: string): Promise<Sbom> {
  // `--omit dev` is not used: it also leaves out what both the package and the tests use. Packages that only development needs are marked.
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--workspace', name]
  const { stdout } = await execute('npm', args, { cwd: ROOT, maxBuffer: MOST_BYTES })
  const sbom: Sbom = JSON.parse(stdout)
  // npm puts the repository there.
  const component = sbom.components.find(({ 'bom-ref': ref }) => ref.startsWith(`${name}@`))
  if (!component) throw new Error(`npm sbom does not list ${name} itself`)
  const left = new Set(sbom.components.filter(isForDevelopment).map((one) => one['bom-ref']))
  const components = sbom.components.filter((one) => one !== component && !left.has(one['bom-ref']))
  const dependencies = sbom.dependencies
    .filter(({ ref }) => !left.has(ref))
    .map((one) => ({ ...one, dependsOn: (one.dependsOn ?? []).filter((ref) => !left.has(ref)) }))
  return { ...sbom, metadata: { ...sbom.metadata, component }, components, dependencies }
}

function isForDevelopment({ properties = [] }: Component): boolean {
  return properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sbom = await sbomOf('@claimcheck/server')
  await writeFile(resolve(ROOT, FILE), `${JSON.stringify(sbom, null, 2)}\n`)
  console.log(`${FILE}: ${sbom.components.length} components`)
}
