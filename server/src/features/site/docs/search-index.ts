/** The search of the documentation: the server makes the index, which the browser loads and asks. Both take words apart in the same way. */
import MiniSearch, { type Options, type Query } from 'minisearch'
import { stemmer } from 'stemmer'
import type { Section } from './markdown.tsx'

/** A section of a page, as a search shows it. */
export interface Found {
  readonly href: string
  /** The title of the page. */
  readonly title: string
  /** The heading of the section. The first section of a page has its title. */
  readonly heading: string
  /** The beginning of its text. */
  readonly begins: string
}

interface Indexed {
  readonly href: string
  readonly title: string
  readonly keywords: string
  readonly sections: readonly Section[]
}

interface Entry extends Found {
  readonly id: number
  /** The title in the first section of its page, which answers for the page; else nothing. */
  readonly page: string
  readonly keywords: string
  readonly text: string
}

const SHOWN_LENGTH = 110

/** Words that a question has and an answer need not have. */
const COMMON: ReadonlySet<string> = new Set(
  'a an and are as at be but by can do does for from get has have how i if in is it its like me my need not of on or our so that the their there they this to use want was we what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Words that mean about the same here: who types one finds the others. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['backup', 'restore', 'snapshot'],
  ['notification', 'alert', 'notify', 'webhook'],
  ['docker', 'container', 'kubernetes', 'podman'],
  ['email', 'mail', 'smtp'],
  ['delete', 'remove', 'erase'],
  ['revoke', 'disable', 'invalidate'],
  ['rotate', 'renew', 'replace'],
  ['expire', 'expiry', 'lifetime'],
  ['sso', 'saml', 'oidc', 'okta'],
  ['login', 'sign'],
  ['signup', 'register', 'account'],
  ['password', 'passkey'],
  ['2fa', 'mfa', 'totp', 'second'],
  ['plugin', 'verifier', 'destination'],
  ['custom', 'own', 'writing'],
  ['write', 'create', 'make', 'build', 'new'],
  ['upgrade', 'update'],
  ['install', 'setup', 'start'],
  ['limit', 'quota', 'throttle', '429'],
  ['fake', 'forged', 'tampered', 'genuine', 'trust'],
  ['verify', 'check', 'validate'],
  ['blockchain', 'chain', 'anchor'],
  ['price', 'cost', 'fee'],
  ['proxy', 'nginx', 'traefik', 'caddy', 'haproxy', 'ingress'],
  ['ha', 'replica', 'scale', 'cluster', 'host'],
  ['database', 'postgres', 'postgresql', 'sqlite'],
  ['gdpr', 'privacy', 'erasure'],
  ['javascript', 'typescript', 'node', 'js', 'ts'],
  ['sdk', 'client', 'library'],
  ['terminal', 'cli', 'command'],
  ['metric', 'prometheus', 'grafana', 'monitoring'],
  ['invite', 'invitation', 'member', 'colleague', 'teammate'],
  ['page', 'pagination', 'cursor', 'paging'],
  ['bot', 'agent', 'llm'],
]

const MEANINGS = new Map<string, readonly string[]>()
for (const group of SYNONYMS) {
  const stems = group.map((word) => stemmer(word))
  for (const stem of stems) MEANINGS.set(stem, [...new Set([...(MEANINGS.get(stem) ?? []), ...stems])])
}

const BOOST = { page: 8, keywords: 6, heading: 3 }

/** Weighs a page: one that explains a name comes before those that list every name. */
function weightOf(href: string): number {
  return /^\/docs\/(?:api\/|asvs|changelog|glossary|verifiers|benchmark)/.test(href) ? 0.3 : 1
}

/** Matches numbers and hashes of examples, which are no search terms; statuses of HTTP are. */
const VALUE = /^(?![45]\d\d$)[\d.-]*$|(?=.*\d)^[0-9a-z_-]{16,}$/

/** Lists the words of a text. Names with dots and underscores count as a whole and in their parts. */
export function wordsOf(text: string): string[] {
  return namesIn(text).flatMap((name) => [name, ...partsOf(name)])
}

function namesIn(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) ?? []).filter(isTerm)
}

function partsOf(name: string): string[] {
  return /[._-]/.test(name) ? name.split(/[._-]/).filter(isTerm) : []
}

function isTerm(word: string): boolean {
  return word.length > 1 && word.length <= 40 && !VALUE.test(word)
}

const OPTIONS = {
  fields: ['page', 'keywords', 'heading', 'text'],
  storeFields: ['href', 'title', 'heading', 'begins'],
  tokenize: wordsOf,
  processTerm: (word) => (COMMON.has(word) ? null : stemmer(word)),
} as const satisfies Options<Entry>

/** Makes the index, as JSON. */
export function searchIndex(pages: readonly Indexed[]): string {
  const index = new MiniSearch<Entry>({
    ...OPTIONS,
    fields: [...OPTIONS.fields],
    storeFields: [...OPTIONS.storeFields],
  })
  for (const { href, title, keywords, sections } of pages) {
    for (const { heading, text, prose } of sections) {
      const isFirst = heading.level === 1
      index.add({
        id: index.documentCount,
        href: isFirst ? href : `${href}#${heading.id}`,
        title,
        heading: heading.text,
        page: isFirst ? title : '',
        keywords: isFirst ? keywords : '',
        text,
        begins: begin(prose || text),
      })
    }
  }
  return JSON.stringify(index)
}

/** Opens an index. @throws Error for JSON that is none */
export function openSearch(json: string) {
  const index = MiniSearch.loadJSON<Entry>(json, { ...OPTIONS, fields: [...OPTIONS.fields] })

  /** Makes the query for one word: the word or its beginning, one that is spelled like it, or one that means the same. */
  function oneWord(word: string): Query {
    const stem = stemmer(word)
    const others = (MEANINGS.get(stem) ?? []).filter((other) => other !== stem)
    const exactly = { processTerm: (term: string) => term, tokenize: (text: string) => [text] }
    return {
      combineWith: 'OR',
      queries: [
        { queries: [stem], prefix: word.length > 2, ...exactly },
        ...(index.search(stem, { ...exactly, prefix: true }).length === 0
          ? [{ queries: [stem], fuzzy: word.length > 3 ? 0.25 : false, prefix: false, ...exactly }]
          : []),
        ...(others.length > 0 ? [{ queries: others, boostTerm: () => 0.4, ...exactly }] : []),
      ],
    }
  }

  /** Makes the query for a name: the name as a whole, or else its parts. */
  function oneName(name: string): Query {
    const whole = oneWord(name)
    const parts = partsOf(name)
    if (parts.length === 0 || index.search(whole).length > 0) return whole
    return { combineWith: 'AND', queries: parts.map(oneWord) }
  }

  return {
    /** Finds sections, the best first: those that have every word, or else those that have some. */
    find(question: string): Found[] {
      const typed = [...new Set(namesIn(question))]
      const names = typed.filter((name) => !COMMON.has(name))
      const queries = (names.length > 0 ? names : typed).map(oneName)
      for (const combineWith of ['AND', 'OR'] as const) {
        const found = index.search(
          { combineWith, queries },
          { boost: BOOST, boostDocument: (_, __, { href } = {}) => weightOf(String(href)) },
        )
        if (found.length > 0) return found as unknown as Found[]
      }
      return []
    },
  }
}

function begin(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= SHOWN_LENGTH ? line : `${line.slice(0, SHOWN_LENGTH).replace(/\s\S*$/, '')}…`
}
