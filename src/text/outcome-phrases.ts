/**
 * The ways in which people and agents write down how an experiment went, as one pattern. Made for research logs in
 * English; what is only hoped for ("should help", "to improve stability", "avoid OOM") is not meant to match.
 */
import { clauseEnd, notHoped, outcomeStatements } from './outcome-statements.ts'

// Just before a verb or noun that then speaks of an aim, a fear or an earlier run.
const notFeared = String.raw`(?<!\b(?:to|if|when|see where|find where|fix(?:es|ed)?|avoids?|avoiding|prevents?|preventing|against|without|handle|on|reduces?|whether)\s+(?:\w+\s+)?)`

const degree =
  '(?:slightly|clearly|significantly|marginally|much|way|far|a bit|even|still|barely|noticeably|consistently|strictly|substantially|dramatically|basically|roughly|essentially|completely|mostly|dead|nearly|almost)'
const size =
  '(?:no|little|zero|any|small|tiny|minor|slight|marginal|negligible|further|another|big|huge|large|great|solid|massive|clear|real|free|modest|consistent|net|significant|measurable|meaningful)'
const unit = String.raw`(?:bpb|bpc|nats?|ppl|tok(?:ens?)?\/s(?:ec)?|tps|it\/s|steps?\/s|samples?\/s|req\/s|mfu|TFLOPS?|ms\/step|s\/step|ms\/iter|µs|t\/s)`
const metric =
  '(?:(?:val|train|test|eval|valid|validation)[ _-]?(?:bpb|loss|ppl|acc|accuracy|score)|bpb|bpc|perplexity|ppl|accuracy|mfu|tps|throughput|decode|acceptance)'

const comparisons = [
  String.raw`(?:${degree}\s+)*\b(?:worse|worst|worsened|worsens)\b`,
  String.raw`(?:${degree}\s+)+(?:better|slower|faster|lower|higher|neutral|flat|unchanged|identical|the same)\b${notHoped}`,
  String.raw`(?<!\b(?:for|a|an|with|towards?|use|get|gets|more|find|try)\s+)\bbetter(?:${clauseEnd}|(?=\s(?:than|at|but|overall|now|per|here|results?|bpb|loss|quality)\b))${notHoped}`,
  String.raw`\b(?:slower|faster)(?:${clauseEnd}|(?=\sthan\b))${notHoped}`,
  String.raw`\bflat${clauseEnd}`,
  String.raw`\b(?:new|our|current|overall|all-time|legal|personal|unofficial)\s+(?:\w+\s+){0,2}(?:best|peak|record|sota|low|high|champion|leader|winner|king)\b`,
  String.raw`\bbest(?=\s*(?:$|[),;.!:]|\s(?:so far|yet|result|overall|score|run|ever)))|\brecord!`,
  String.raw`\b(?:on par|at parity|(?:same|identical|similar|equal|close|comparable) (?:as|to|with) (?:the )?(?:baseline|reference|control|best|previous|before))\b`,
  String.raw`\b(?:vs\.?|over|than|versus|below|above|from)\s+(?:the\s+)?(?:\S+\s+){0,2}(?:baseline|control|sota|exp(?:eriment)?\s?\d+|(?:previous|current|prior) best)\b`,
  String.raw`\b(?:match(?:es|ed)?|beats?)\s+(?:the\s+)?(?:baseline|control|reference|sota|pr\b|\w+ (?:bpb|loss|accuracy))`,
  String.raw`\bvs\.?\s+[-+~]?\d+\.\d+`,
]

const verbs = [
  String.raw`${notFeared}\b(?:improves|improved|helps|helped|hurts?|harms|harmed|degrades|degraded|beats|beaten|surpass(?:es|ed)?|outperform(?:s|ed)?|underperform(?:s|ed)?|regress(?:es|ed)|wins|won|loses|lost|plateau(?:s|ed)|saturate[sd])\b${notHoped}`,
  String.raw`${notFeared}\b(?:fail(?:s|ed|ure|ures)?|crash(?:es|ed)?|diverge[sd]|divergence|explode[sd]|blew up|blows up|collapse[sd]|timed[ -]out|stalled|stuck|killed|OOM(?:s|ed|['’]d|-ed)?|out of memory|\w+OutOfMemory\w*|\w*HbmOom|nans?|broke|broken|breaks|errors out|segfault(?:s|ed)?|rate[- ]limited|exceed(?:s|ed))\b${notHoped}`,
  String.raw`\bexit(?:ed)?\s(?:code\s|with\s|status\s)?\d+|\bover (?:budget|by)\b|\b(?:within|fits?) (?:the )?budget\b`,
  String.raw`\b(?:did|does|do|was|is|were|could|can|has|have)(?:n['’]?t|\s+not)\s+(?:really\s+)?(?:help|work|improve|matter|converge|fit|reproduce|scale|transfer|change|beat|finish|hold|generali[sz]e|learn|train|stack|compose|pay|worth|enough|useful|better|complete|compensate|recover)\w*`,
  String.raw`\b(?:not|n['’]t|never)\s+(?:worth|acceptable|significant|merged|better|worse|helpful|useful|enough|competitive|beneficial|viable|working|meaningful|helping)\b`,
  String.raw`\b(?:worked|works)(?=\s*(?:$|[),;.!]|\s(?:well|best|better|great|fine|ok)))`,
  String.raw`\b(?:reach(?:es|ed)|scor(?:es|ed)|achiev(?:es|ed)|yield(?:s|ed)|succeeded)\b[^.;:]{0,40}?\d+\.\d{2,}`,
]

const verdicts = [
  String.raw`\b(?:neutral|inconclusive|unchanged|catastrophic|disappointing|unsuccessful|successful|promising|counterproductive|harmful|garbage|revert(?:ed|ing)|discard(?:ed)?|rejected|superseded|gamed|dead end|no[- ]op|sweet spot|not merged|diminishing returns)\b`,
  String.raw`(?<!\b(?:linear|logistic|ridge|softmax|quantile|isotonic)\s+)\bregressions?\b(?!\s+(?:head|loss|model|target|task|test))`,
  String.raw`^\s*(?:FAIL|REVERT|KEEP|KEPT|DISCARD|CRASH|SUCCESS|WIN|LOSS|BEST|BROKEN|INVALID|NEGATIVE|POSITIVE|NULL)(?=\s*(?:$|[:!–—-]\s))`,
  String.raw`^\s*(?:still\s+)?(?:stable|invalid|neutral|valid)\b`,
  String.raw`\b(?:within|in|below|under|inside)\s+(?:the\s+)?(?:\w+\s+)?noise\b|\bnoise[- ](?:level|floor|band)\b|\b(?:just|pure) noise\b`,
  String.raw`\b(?:quality|performance|perf|accuracy|speed|throughput)\s+(?:loss|drop|cost|hit|penalty|collapse|dropped|drops)\b`,
  String.raw`\b(?:positive|negative|strong|weak|clear|initial)\s+(?:\w+\s+)?(?:signal|result|direction|trend|finding)s?\b`,
  String.raw`(?<!\b(?:not|if|when|is|are)\s+)\btoo\s+(?:few|many|much|little|slow|large|small|big|high|low|aggressive|weak|strong|long|short|deep|wide|narrow|shallow|noisy|expensive|broad|late|early|close|hot|slowly|quickly|conservative)\b`,
  String.raw`\b(?:confirmed|confirms|refute[sd]|surprisingly|unexpectedly|as expected|conclusively)\b`,
  String.raw`\b(?:optimal|optimum)\b${clauseEnd}`,
  '[✓✔✅✗✘❌🎉🚀🏆]',
]

const amounts = [
  String.raw`\b${size}\s+(?:\w+\s+)?(?:gains?|improvements?|benefits?|effects?|differences?|changes?|help|wins?|impact|advantages?|speed-?ups?|slow-?downs?|drop|hit)\b${notHoped}`,
  String.raw`\b(?:improvements?|speed-?ups?|slow-?downs?)\b(?:${clauseEnd}|(?=\s(?:of|over|from|vs|in|with|but|at)\b|:|\())${notHoped}`,
  String.raw`(?<![-_]|\b(?:qk|init)\s)\bgain(?:s|ed)?\s+(?:of|over|vs|~|\+|-)`,
  String.raw`(?<![\d.,])\d[\d.,]*\s?(?:%|[x×])\s+(?:slower|faster|better|worse|lower|higher|speed-?up|improvement|gain|reduction|increase|decrease|overhead|drop|hit)\b${notHoped}`,
  String.raw`\bsav(?:es|ed)\s+~?\d`,
  String.raw`(?<![\w.])[-+−±≈~]\s?\d[\d.,]*\s?%`,
  String.raw`(?<![\w.])[-+−±]\s?0\.\d{3,}(?!\d*e)`,
  String.raw`(?<![\w.])[-+−±≈~]?\s?\d[\d.,]*k?\s?(?:\w+\s+)?(?:(?:val|test|train)[ _-]?)?${unit}(?![\w/])`,
  String.raw`(?<![\d.])\d[\d.]*\s?±|Δ\s?(?:\w+\s?)?=?\s?[-+−]?\d|\bsub-\d+\.\d|(?<![\d.])\d[\d.]*@\w`,
  String.raw`(?<!\btarget\s+)\b(?:(?:best|final|new|sw|post|pre|mean|sliding|int8|roundtrip)[ _-])*${metric}\s*(?:[=:≈~]|of|is|was|at|to|by|from|only|→|->)?\s*[-+−~≈]?\d`,
  String.raw`\bloss(?:es)?\s*\d+\.\d+\s*(?:→|->)`,
  String.raw`\b(?:mean|avg|average|median|std)\s*[=:]?\s*\d+\.\d{2,}`,
  // A ratio or a rate of learning is seldom written like this, a score of four digits often.
  String.raw`(?<![\w.-])[\w.-]+\s*=\s*[1-9]\d{0,2}\.\d{3,}(?![\w-])`,
  String.raw`(?<![\d.])\d[\d.]*\s?MB\s+(?:valid|submission|model|artifact)\b`,
]

const oneOf = (phrases: readonly string[]) => phrases.map(phrase => `(?:${phrase})`).join('|')
/** Two, since V8 compiles no pattern of more than 20 kB, and one that is interpreted takes five times as long. */
const sources = [oneOf([...comparisons, ...verbs, ...verdicts, ...amounts]), oneOf(outcomeStatements)]
/** Find all outcome phrases with `matchAll`, which leaves a pattern as it is. */
export const outcomePhrases: readonly RegExp[] = sources.map(source => new RegExp(source, 'giu'))
/** Find the first of each kind. */
export const firstOutcomePhrases: readonly RegExp[] = sources.map(source => new RegExp(source, 'iu'))
