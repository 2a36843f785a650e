/** Whether the commands that documentation names exist, with each option that it gives them: as their `--help` says. */
import { readFileSync } from 'node:fs'
import { packageJson } from '@claimcheck/create-plugin/package-files'
import { runClaimcheck } from '../support/command.ts'

/** Of this checkout, and of a package that was written from the template. */
const SCRIPTS: Readonly<Record<string, unknown>> = {
  ...JSON.parse(readFileSync('package.json', 'utf8')).scripts,
  ...(packageJson('name', 'a.b.c') as { scripts: object }).scripts,
}
/** What comes with Node, and needs no script. */
const OWN = new Set(['ci', 'test', 'start', 'install', 'pack', 'approve-scripts'])

const helps = new Map<string, Promise<string | undefined>>()

/** The help of a command, or undefined where there is no such command. */
function helpOf(words: readonly string[]): Promise<string | undefined> {
  const name = words.join(' ')
  const known = helps.get(name)
  if (known) return known
  const asked = runClaimcheck('.', [...words, '--help']).then(({ code, stdout }) => (code === 0 ? stdout : undefined))
  helps.set(name, asked)
  return asked
}

/** The lines of a shell text as commands: continued lines joined, comments and leading assignments away. */
export function commandsIn(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .map((line) => line.replace(/^(\w+=\S* +)+/, ''))
    .filter(Boolean)
}

/** What is wrong with a command, in words; undefined when nothing is, or when it is none of ours. */
export async function problemOf(command: string): Promise<string | undefined> {
  const [program, ...words] = command.split(/\s+/)
  if (program === 'npm') return problemOfScript(words)
  if (program === './claimcheck') return problemOfClaimcheck(words)
  // Where the packages are installed. Without the option npx runs what anyone has registered under the name.
  if (program === 'npx' && words[0] === '--no-install') return problemOfInstalled(words.slice(1))
  if (program === 'npx') return 'npx without --no-install fetches what anyone has registered under the name'
  return undefined
}

function problemOfScript(words: readonly string[]): string | undefined {
  const [name = '', script = ''] = words
  if (name === 'run') return Object.hasOwn(SCRIPTS, script) ? undefined : `npm has no script ${script}`
  return OWN.has(name) ? undefined : `npm ${name} is not known here`
}

async function problemOfInstalled([name, ...words]: readonly string[]): Promise<string | undefined> {
  return /^claimcheck(-cli)?$/.test(name ?? '') && words.length > 0 ? problemOfClaimcheck(words) : undefined
}

async function problemOfClaimcheck(words: readonly string[]): Promise<string | undefined> {
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]!)
  const [first, second] = words.filter((word) => /^[a-z]/.test(word))
  if (first === undefined) return options.length === 0 ? 'no command is named' : undefined
  const help = await helpOf([first])
  // Commander prints the program's own help for what it does not know.
  if (!help?.startsWith(`Usage: claimcheck ${first}`)) return `claimcheck has no command ${first}`
  const isGroup = second !== undefined && new RegExp(`^Commands:(?:\\n.*)*^ +${second}\\b`, 'm').test(help)
  const own = isGroup ? await helpOf([first, second]) : help
  const isBare = !isGroup && /^Usage: claimcheck \w[\w-]* \[options\] \[command\]/.test(help)
  if (isBare && second !== undefined) return `claimcheck ${first} has no command ${second}`
  const missing = options.filter((option) => !new RegExp(`(^|[ ,])${option}\\b(?!-)`, 'm').test(own ?? ''))
  return missing.length === 0 ? undefined : `claimcheck ${first} has no option ${missing.join(', ')}`
}
