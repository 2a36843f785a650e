/** Writes the package of a new verifier from the template, under names of its own. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { GITIGNORE, packageJson, TSCONFIG } from './package-files.ts'
import { checkoutFolder, templateFiles } from './template.ts'

export type ScaffoldErrorCode = 'bad_action' | 'bad_name' | 'folder_not_empty' | 'not_a_folder'

export class ScaffoldError extends Error {
  override readonly name = 'ScaffoldError'
  readonly code: ScaffoldErrorCode

  constructor(code: ScaffoldErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export interface ScaffoldOptions {
  /** The folder, which is made if it is not there. Defaults to a new one in the working folder. */
  readonly folder?: string | undefined
  /** The action of the new verifier, three names with dots between them. */
  readonly action?: string | undefined
  /** The name of the package. Defaults to that of the folder. */
  readonly name?: string | undefined
}

export interface Scaffolded {
  readonly folder: string
  readonly action: string
  readonly name: string
  /** The written files, by their paths in the folder. */
  readonly files: readonly string[]
}

// The pattern is copied from the contract, on which this package does not depend: it is installed alone.
const ACTION = /^[a-z0-9]+(\.[a-z0-9_]+){2}$/
const LONGEST_ACTION = 128
/** The first name of the action is that of a plugin and of a provider, too. */
const LONGEST_PROVIDER = 64
const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/
const LONGEST_PACKAGE = 214

const TEMPLATE_ACTION = 'acme.ticket.close'
const TEMPLATE_PACKAGE = '@claimcheck/plugin-example'

/** Writes a new package. @throws ScaffoldError; nothing is written then */
export async function scaffold({ action = TEMPLATE_ACTION, ...options }: ScaffoldOptions): Promise<Scaffolded> {
  const [provider] = action.split('.') as [string]
  if (!ACTION.test(action) || action.length > LONGEST_ACTION || provider.length > LONGEST_PROVIDER) {
    throw new ScaffoldError(
      'bad_action',
      `${action} is not the name of an action: write three names in lower case with dots between them, such as ${TEMPLATE_ACTION}.`,
    )
  }
  const folder = resolve(options.folder ?? `claimcheck-plugin-${provider}`)
  const name = options.name ?? basename(folder).toLowerCase()
  if (!PACKAGE.test(name) || name.length > LONGEST_PACKAGE) {
    throw new ScaffoldError('bad_name', `${name} is not the name of a package: choose one with --name.`)
  }
  await refuseContent(folder)

  const files = new Map(
    [...(await templateFiles())].map(([path, text]) => [path, renamed(text, { action, provider, name })]),
  )
  files.set('package.json', json(packageJson(name, action)))
  files.set('tsconfig.json', json(TSCONFIG))
  files.set('.gitignore', GITIGNORE)
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
  return { folder, action, name, files: [...files.keys()].toSorted() }
}

/**
 * Says what to type next, from the folder in which the command ran. In a checkout it packs what the new package depends on into its folder:
 * no registry need have those packages.
 */
export function nextCommands({ folder }: Pick<Scaffolded, 'folder'>): readonly string[] {
  const path = folder === process.cwd() ? '' : `cd ${quoted(resolve(folder).replace(`${process.cwd()}/`, ''))} && `
  const checkout = checkoutFolder()
  if (checkout === undefined) return [`${path}npm install`, 'npm test', 'npm run try']
  const workspaces = PACKED.map((name) => `-w @claimcheck/${name}`).join(' ')
  return [
    `(cd ${quoted(checkout)} && npm pack ${workspaces} --pack-destination ${quoted(folder)})`,
    `${path}npm install --no-save ./claimcheck-*.tgz`,
    'npm test',
    'npm run try',
  ]
}

/** The packages on which a new one depends, directly or not. */
const PACKED = ['core', 'command-line', 'plugin-tools', 'create-plugin']

/** Refuses a folder with files. A repository without files counts as empty. */
async function refuseContent(folder: string): Promise<void> {
  let names: string[]
  try {
    names = await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    if (code === 'ENOTDIR') throw new ScaffoldError('not_a_folder', `${folder} is not a folder.`)
    throw error
  }
  if (names.some((name) => name !== '.git')) {
    throw new ScaffoldError('folder_not_empty', `${folder} is not empty: name a new folder.`)
  }
}

function renamed(text: string, { action, provider, name }: { action: string; provider: string; name: string }): string {
  return text
    .replaceAll(TEMPLATE_PACKAGE, () => name)
    .replaceAll(TEMPLATE_ACTION, action)
    .replace(/\bacme\b/g, provider)
    .replace(/\bAcme\b/g, provider[0]!.toUpperCase() + provider.slice(1))
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
