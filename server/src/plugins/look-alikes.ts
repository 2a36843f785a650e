/**
 * Refuses names of a stranger's plugin that look like those of a shipped one. The attack: the plugin offers `GitHub`, or what looks like it, and
 * people type into it what belongs to the shipped one.
 */
import { withPunycode } from '@claimcheck/core/words/look-alikes'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { isStranger } from './identity.ts'
import type { LoadedPlugin } from './registry.ts'

/** The names that the plugins that come with the server offer. */
export const SHIPPED = {
  plugins: ['anchor-eas', 'codehost', 'http', 'registry', 'signer-pkcs11'],
  providers: ['bitbucket', 'bitbucket-server', 'cargo', 'git', 'gitea', 'github', 'gitlab', 'npm', 'pypi', 'site'],
  /** Titles of the shipped connection types. */
  titles: [
    'Bitbucket Cloud',
    'Bitbucket Data Center',
    'Cargo registry',
    'GitHub',
    'GitLab',
    'Gitea or Forgejo',
    'Python package index',
    'Site',
    'git over HTTP',
    'npm registry',
  ],
  /** Titles of the shipped profiles, by action. */
  actions: {
    'codehost.commit.push': 'Push of a commit',
    'codehost.checks.pass': 'Passing of checks',
    'codehost.issue.close': 'Closing of an issue',
    'codehost.pull_request.merge': 'Merge of a pull request',
    'codehost.pull_request.open': 'Opening of a pull request',
    'codehost.release.publish': 'Publication of a release',
    'http.url.status': 'Answer of a web address',
    'registry.package.publish': 'Publication of a package',
  } as Readonly<Record<string, string>>,
} as const

/** Finds the look-alikes that a plugin may not offer that neither comes with the server nor is named or trusted by the operator. */
export function lookAlikeProblems({
  name,
  identity,
  parts,
}: Pick<LoadedPlugin, 'name' | 'identity' | 'parts'>): string[] {
  if (!isStranger(identity)) return []
  const problems: string[] = []
  const compare = (what: string, text: string, shipped: readonly string[]) => {
    const owned = shipped.find((one) => folded(one) === folded(text))
    if (owned !== undefined) {
      problems.push(
        `its ${what} ${shown(text)} looks like ${owned}, of a plugin that comes with the server: give it another one, or name the plugin in \`sources\``,
      )
    } else if (withPunycode(text) !== visibleName(text)) {
      problems.push(`its ${what} ${shown(text)} has letters that look like others: write it in letters of one script`)
    }
  }
  compare('name', name, SHIPPED.plugins)
  for (const { provider, title } of parts.connections) {
    compare('provider', provider, SHIPPED.providers)
    compare(`title of ${provider},`, title, SHIPPED.titles)
  }
  // Third parties may read an action of a shipped plugin, with its profile.
  const own = parts.verifiers.filter(({ profile }) => !Object.hasOwn(SHIPPED.actions, profile.action))
  for (const { profile } of own)
    compare(`title of ${profile.action},`, profile.words.title, Object.values(SHIPPED.actions))
  return [...new Set(problems)]
}

/** Reduces a text to what an eye takes in passing: letters that are drawn alike become one. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9\p{L}]/gu, '')
    .replace(/./gu, (letter) => TWINS[letter] ?? letter)
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

/** Letters that look alike: of ASCII, and of the scripts that have most of the letters that look like it. */
const TWINS: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', l: 'i', '3': 'e', '5': 's' },
  ...{ а: 'a', ь: 'b', с: 'c', ԁ: 'd', е: 'e', һ: 'h', н: 'h', і: 'i', ӏ: 'i', ј: 'j', к: 'k', м: 'm', о: 'o', р: 'p' },
  ...{ ѕ: 's', т: 't', ц: 'u', ѵ: 'v', ԝ: 'w', х: 'x', у: 'y', в: 'b', г: 'r', п: 'n', ɡ: 'g', ı: 'i', ǀ: 'i' },
  ...{
    α: 'a',
    β: 'b',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    σ: 'o',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ϲ: 'c',
    ϳ: 'j',
  },
}

function shown(text: string): string {
  return withPunycode(text)
}
