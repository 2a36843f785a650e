/** A receipt with everything that is published about it: above all, the proof's root against a signed tree head. */
import {
  type Bundle,
  canonicalize,
  checkBundle,
  createNobleSigner,
  DOMAINS,
  logIdOf,
  proveConsistency,
  type Receipt,
  signTreeHead,
  toBase64url,
  treeHasher,
  treeRoot,
  treeSizeIn,
  utf8,
} from '@claimcheck/core'
import t from 'tap'
import { naiveConsistency, naiveInclusion } from './naive-tree.ts'
import { readFileSync } from 'node:fs'

