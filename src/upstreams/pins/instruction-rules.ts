import { escapeHidden } from '../../base/escape-text.ts';

/** Why a text looks like an instruction to the model, or like a way to make it act. `excerpt` is a part of the text as it was matched. */
export interface FoundInstruction {
  readonly why: string;
  readonly excerpt: string;
}

interface Rule {
  readonly pattern: RegExp;
  readonly why: string;
}

const PRIVATE_FILES =
  /(?:~|\$home|\/home\/\w{1,40}|\/root)\/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|cursor)\b|\b(?:read|open|cat|load|contents? of)\b[^.]{0,40}\.env\b|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/(?:passwd|shadow)\b|\.aws\/credentials|\.git-credentials|\bmcp\.json\b/iu;
const IGNORE = "(?:ignore|disregard|forget|override|bypass|do not follow|don['’]t follow)";
const HIDE_VERBS = '(?:tell|inform|notify|mention|reveal|disclos|disclose|show|report|alert|warn|ask)(?:ing)?';

/**
 * Each pattern takes time in proportion to the text: repetitions are bounded, and none is inside another of the same characters. The text
 * was prepared by `foldText`, so white space is one space and hidden letters are visible.
 */
const RULES: readonly Rule[] = [
  {
    pattern: new RegExp(
      `\\b${IGNORE}\\b(?: \\S{1,20}){0,3} (?:previous|prior|above|earlier|preceding|your|system)\\b(?: \\S{1,20}){0,2} ` +
        '(?:instructions?|prompts?|rules?|guidelines?|directives?|messages?|constraints?)\\b',
      'iu',
    ),
    why: 'It tells the model to ignore its instructions.',
  },
  {
    pattern: new RegExp(
      `\\b${IGNORE} (?:all|any|every|other|existing)\\b(?: \\S{1,20}){0,2} (?:instructions?|prompts?|guidelines?|directives?)\\b`,
      'iu',
    ),
    why: 'It tells the model to ignore its instructions.',
  },
  {
    pattern: new RegExp(
      `\\b(?:do not|don['’]t|never|must not|should not|without|avoid) ${HIDE_VERBS}\\b[^.]{0,60}?\\b(?:users?|humans?|operators?|anyone|anybody)\\b`,
      'iu',
    ),
    why: 'It asks the model to hide something from people.',
  },
  {
    pattern:
      /\b(?:hide|conceal|keep) (?:this|it|that|these)\b[^.]{0,40}?\b(?:from the (?:user|human)|secret|hidden)\b/iu,
    why: 'It asks the model to hide something from people.',
  },
  {
    pattern:
      /<\/?(?:important|system|sys|instructions?|secret|hidden|assistant|critical|admin|system-reminder)\b[^<>]{0,40}>|<\|\w{2,20}\|>|\[\/?inst\]/iu,
    why: 'It has a mark that models take for the beginning of instructions.',
  },
  {
    pattern:
      /\bbefore (?:you )?(?:using|use|calling|call|invoking|invoke|running|run) (?:any|every|each|all|another|other)(?: other)?(?: \w{1,20})? tools?\b/iu,
    why: 'It wants to run before all other tools.',
  },
  { pattern: PRIVATE_FILES, why: 'It names a file that usually holds secrets.' },
  { pattern: /\bexfiltrat(?:e|es|ing|ion)\b/iu, why: 'It asks for data to be sent elsewhere.' },
  {
    pattern: /\b(?:system|developer|hidden) prompts?\b/iu,
    why: 'It speaks about the system prompt of the model.',
  },
  {
    pattern: /(?<![a-z0-9+/=_-])(?=[a-z+/=_-]{0,60}[0-9])[a-z0-9+/_-]{201}/iu,
    why: 'It has a long coded text that a person cannot read.',
  },
  {
    pattern:
      /\bhttps?:\/\/(?!127\.)(?:[^\s/@]{1,100}@)?(?:(?:\d{1,3}\.){3}\d{1,3}|\[[0-9a-f:]{2,40}\]|0x[0-9a-f]{1,8}|\d{8,10})(?![\w.-])/iu,
    why: 'It has a link to a bare IP address.',
  },
  {
    pattern: /\bdata:[a-z]{1,20}\/[a-z0-9.+-]{1,40}[;,]|\bjavascript:\S/iu,
    why: 'It has a link that carries its own content.',
  },
  { pattern: /\\(?:x1b|u001b|u\{1b\}|033|e)\[/iu, why: 'It has a control sequence for terminals.' },
  {
    pattern: /!?\[[^[\]]{0,200}\]\((?:https?:|data:|javascript:|\/\/)/iu,
    why: 'It has a link or an image that a chat may show or load.',
  },
  {
    pattern:
      /<(?:img|a|script|iframe|svg|link|object|embed|form|video|audio|meta)(?:\s[^<>]{0,200})?[\s/](?:src|href|on\w{1,20}|data|action|srcset|content)\s?=|<script\b/iu,
    why: 'It has HTML that a chat may show or run.',
  },
  {
    pattern:
      /\b(?:curl|wget|cat|echo|base64|printenv|env|tar|find|grep)\b[^|]{0,200}\| ?(?:ba|z|da)?(?:sh|python3?|perl|nc|xargs|base64|curl|tee)\b|\brm -rf?\b|\$\((?:cat|curl|wget|env|printenv|whoami|id|base64)\b/iu,
    why: 'It has a command for a shell.',
  },
];

/** The rule is separate, because a server may explain in its own instructions which of its own tools comes first. */
const ALWAYS_CALL = /\b(?:always|must(?: first| always)?) (?:call|invoke|run|execute) (\S{0,80}(?: \S{1,80})?)/giu;
const ADDRESS = /https?:\/\/|\bwww\.|[\w.+-]{1,64}@[\w-]{1,64}\.\w/giu;
const SEND_TO = /\b(?:send|forward|post|upload|transmit|leak|copy|submit|bcc|cc|email|mail)\b.*\b(?:to|at|via)\b/iu;

const MAX_WINDOW = 120;
const MAX_EXCERPT = 60;

/**
 * Finds instructions in a folded text. `ownTools` are the names of the tools that the text may put first: those of the same server, if the
 * text is the server's own instructions.
 */
export function findInstructions(folded: string, ownTools: ReadonlySet<string>): FoundInstruction[] {
  const found: FoundInstruction[] = [];
  const add = (why: string, index: number): void => {
    if (!found.some((each) => each.why === why)) found.push({ why, excerpt: excerptAt(folded, index) });
  };
  for (const { pattern, why } of RULES) {
    const match = pattern.exec(folded);
    if (match !== null) add(why, match.index);
  }
  for (const match of folded.matchAll(ALWAYS_CALL)) {
    const words = match[1]!.split(' ').map((word) => word.replaceAll(/^\W+|\W+$/gu, ''));
    if (words.some((word) => ownTools.has(word))) continue;
    add('It tells the model to call a tool always.', match.index);
    break;
  }
  for (const { index } of folded.matchAll(ADDRESS)) {
    const [sentence] = folded
      .slice(Math.max(0, index - MAX_WINDOW), index)
      .split(/[.!?] /u)
      .slice(-1);
    if (!SEND_TO.test(sentence!)) continue;
    add('It asks for data to be sent elsewhere.', index - sentence!.length);
    break;
  }
  return found;
}

function excerptAt(text: string, index: number): string {
  return text.slice(Math.max(0, index), Math.max(0, index) + MAX_EXCERPT);
}

const TAG_LETTERS = /[\u{e0020}-\u{e007e}]/gu;
const UNUSUAL = /[^\n\t -~]/gu;
/** NFKC sorts the marks of a letter, which takes quadratic time. No script needs more marks. */
const MANY_MARKS = /(\p{M}{8})\p{M}+/gu;

/**
 * The text as a model may read it: letters in tag characters are plain, other hidden characters are gone, look-alike forms are one form, and
 * white space is one space. The attack: an instruction that a search for words does not find.
 */
export function foldText(text: string): string {
  const plain = text
    .replaceAll(TAG_LETTERS, (letter) => String.fromCodePoint(letter.codePointAt(0)! - 0xe0000))
    .replaceAll(UNUSUAL, (character) => {
      if (/\s/u.test(character) && character !== '\ufeff') return ' ';
      return escapeHidden(character) === character ? character : '';
    });
  const folded = plain.replaceAll(MANY_MARKS, '$1').normalize('NFKC').replaceAll(/\s+/gu, ' ');
  // A name such as `ignore_previous_instructions` is read as words too.
  return /^[\w.-]+$/u.test(folded) ? folded.replaceAll(/[_-]+(?=[a-z])/giu, ' ') : folded;
}
