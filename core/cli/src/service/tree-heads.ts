/** The newest signed heads of the logs of services, in a file beside the profiles: commands witness the logs together. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TreeHeadMemory } from '@claimcheck/client'
import { newerHeadField } from '@claimcheck/core/checker'
import { objectIn } from '@claimcheck/core/rules'
import { type Env, profilesFile, writePrivateFile } from './profiles.ts'

const MOST_SERVICES = 100

export function treeHeadsFile(env: Env): string {
  return join(dirname(profilesFile(env)), 'tree-heads.json')
}

/** Creates the memory of a service's newest head. A file that cannot be read or written fails no command. @param url the service's address */
export function treeHeadMemory(env: Env, url: string): TreeHeadMemory {
  const file = treeHeadsFile(env)
  let known: string | undefined
  let isRead = false
  return {
    recall() {
      if (!isRead) known = newerHeadField(undefined, readHeads(file).get(url))
      isRead = true
      return known
    },
    keep(head) {
      // The file is read again, because another command may have seen a newer head.
      const heads = readHeads(file)
      known = newerHeadField(heads.get(url), head)!
      heads.delete(url)
      try {
        writePrivateFile(file, Object.fromEntries([...heads, [url, known] as const].slice(-MOST_SERVICES)))
      } catch {
        // The command has done its work by now, so it does not fail where the head cannot be stored.
      }
    },
  }
}

function readHeads(file: string): Map<string, string> {
  try {
    const heads = Object.entries(objectIn(readFileSync(file, 'utf8')))
    return new Map(heads.filter((head): head is [string, string] => typeof head[1] === 'string'))
  } catch {
    return new Map()
  }
}
