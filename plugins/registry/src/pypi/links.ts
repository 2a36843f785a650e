/** Reads the links of a project's page in the simple API (PEP 503), as it arrives: an index may list thousands of files. */
import { DestinationError } from '@claimcheck/core/plugin'
import { bodyOf } from '../reader.ts'
import type { SimpleFile } from './answers.ts'
import { isPackageFile } from './filename.ts'

/** Limit of the characters of a link. */
const LONGEST_LINK = 64 * 1024
/** Matches a comment, a declaration, a tag with its attributes, or text. One that has not come to its end is none yet. */
const TOKEN =
  /<!--(?:-?>|[\s\S]*?--!?>)|<!(?!--)[^>]*>|<(\/?[a-z][a-z0-9]*)((?:[^>=]|=(?:\s*"[^"]*"|\s*'[^']*'|(?!\s*["'])))*)>|[^<]+|<(?=[^a-z/!]|\/[^a-z])/giy
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/g

/**
 * Reads the links of a page. @param take gets each file that the page links
 * @returns whether the page was read to its end: links may be in a tag or a comment that has none
 */
export async function readLinks(response: Response, take: (file: SimpleFile) => void): Promise<boolean> {
  const decoder = new TextDecoder('utf-8')
  let link: { readonly attributes: string; text: string } | undefined
  let rest = ''
  // The next link ends one that is open, as in HTML.
  const endLink = () => {
    const file = link && fileOf(link)
    if (file) take(file)
    link = undefined
  }
  const takeAll = () => {
    let end = 0
    TOKEN.lastIndex = 0
    for (let token = TOKEN.exec(rest); token; token = TOKEN.exec(rest)) {
      const { 0: text, 1: tag = '', 2: attributes = '' } = token
      end = TOKEN.lastIndex
      switch (tag.toLowerCase()) {
        case 'a':
          endLink()
          link = { attributes, text: '' }
          break
        case '/a':
          endLink()
          break
        default:
          if (link && !text.startsWith('<')) link.text += text
      }
    }
    rest = rest.slice(end)
  }
  for await (const part of bodyOf(response)) {
    rest += decoder.decode(part, { stream: true })
    takeAll()
    if (rest.length + (link?.text.length ?? 0) > LONGEST_LINK)
      throw new DestinationError('too_large', { status: response.status })
  }
  rest += decoder.decode()
  takeAll()
  endLink()
  return rest === ''
}

function fileOf({ attributes, text }: { readonly attributes: string; readonly text: string }): SimpleFile | undefined {
  // The first of two attributes of one name counts.
  const all = [...attributes.matchAll(ATTRIBUTE)].toReversed()
  const given = new Map(all.map(([, name, ...values]) => [name!.toLowerCase(), values]))
  const href = attributeOf(given.get('href'))
  if (href === undefined) return undefined
  const [path = '', fragment = ''] = href.split('#', 2)
  const [, sha256] = /(?:^|&)sha256=([0-9a-f]{64})(?:&|$)/i.exec(fragment) ?? []
  const names = [decoded(path.split('?', 1)[0]!.split('/').at(-1)!), text.trim()]
  return {
    filename: names.find(isPackageFile) ?? names[0]!,
    hashes: sha256 === undefined ? {} : { sha256: sha256.toLowerCase() },
    ...(given.has('data-yanked') && { yanked: true }),
  }
}

function attributeOf(values: readonly (string | undefined)[] | undefined): string | undefined {
  return values
    ?.find((value) => value !== undefined)
    ?.replaceAll('&amp;', '&')
    .trim()
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
