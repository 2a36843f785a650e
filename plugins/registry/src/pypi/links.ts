/** Reads the links of a project's page in the simple API (PEP 503), as it arrives: an index may list thousands of files. */
import { DestinationError } from '@claimcheck/core/plugin'
import { bodyOf } from '../reader.ts'
import type { SimpleFile } from './answers.ts'

/** In characters. */
const LONGEST_LINK = 64 * 1024
const LINK = /<a\b([^>]*)>([^<]*)<\/a\s*>/gi
const ATTRIBUTE = /\b(href|data-yanked)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/gi

/** @param take is given each file that the page links */
export async function readLinks(response: Response, take: (file: SimpleFile) => void): Promise<void> {
  const decoder = new TextDecoder('utf-8')
  let rest = ''
  const takeAll = () => {
    let end = 0
    for (const { 0: link, 1: attributes = '', 2: text = '', index } of rest.matchAll(LINK)) {
      const file = fileOf(attributes, text)
      if (file) take(file)
      end = index + link.length
    }
    rest = rest.slice(end)
  }
  for await (const part of bodyOf(response)) {
    rest += decoder.decode(part, { stream: true })
    if (rest.includes('</')) takeAll()
    if (rest.length > LONGEST_LINK) throw new DestinationError('too_large', { status: response.status })
  }
  rest += decoder.decode()
  takeAll()
}

function fileOf(attributes: string, text: string): SimpleFile | undefined {
  const given = new Map([...attributes.matchAll(ATTRIBUTE)].map(([, name, ...values]) => [name!.toLowerCase(), values]))
  const href = attributeOf(given.get('href'))
  if (href === undefined) return undefined
  const [path = '', fragment = ''] = href.split('#', 2)
  const [, sha256] = /(?:^|&)sha256=([0-9a-f]{64})$/i.exec(fragment) ?? []
  return {
    filename: decoded(path.split('?', 1)[0]!.split('/').at(-1)!) || text.trim(),
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
