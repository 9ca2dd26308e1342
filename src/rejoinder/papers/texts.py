"""The words of the pages of reproduced experiments; tables and figures go where the braces are."""

LOWE2017 = """\
# Lowe et al. 2017, Towards an Automatic Turing Test (ADEM), run anew

{made_by}

**These are other dialogues.** The human ratings of the paper were of replies on Twitter; they were withdrawn and can
no longer be had. What follows asks the paper's questions of other rated dialogues, with other systems, other raters
and a smaller encoder. A published figure stands beside ours for orientation; neither confirms the other.

## Data

{data}
A *copy* is a response that equals one of its references word for word. People rate copies high and every reference
metric gives them full marks, so word overlap looks better with them than it is; they are left out of training, of
validation and of every figure but for the column that says so. Ratings are means over raters, brought from their
scale to 1 to 5. Lines belong to one context where the data say so, and also where the whole context, its last
turn or its first two turns are the same (six words or more), since several sets took dialogues from one corpus. Lines
whose system is not named (in the zhao sets) count everywhere but in what is said of single systems. People were asked
different things in different sets (overall quality, appropriateness, coherence).

## How

Random splits of the contexts, 70 / 15 / 15: {seeds}; no context stands in two parts of a split. Mean lines of a
split: {lines}. A figure is the mean over the splits, n their test lines together. [low, high] is the 95 % expanded
percentile interval over 1,000 resamples of contexts, each with all its lines in all splits; it tells how much the test
contexts matter, not how much the training contexts do. p of a correlation is two-sided, from the same resamples, and
cannot be under .002. S is Spearman, P Pearson.

Heads are fitted with Adam, batch {fit.batch_size}, step {fit.learning_rate}, penalty {fit.penalty_weight} times the
{fit.penalty} norm; of {fit.epochs} epochs the one with the lowest validation error is kept (with fewer labels there
are more epochs, so that there are as many steps). Every ADEM was fitted with many settings (below). In each split its
validation part chose one by the Pearson correlation, and the test part was looked at for that one alone. `c-adem`,
`r-adem` and `{main}, untrained` take the settings of `adem`. AutoJudge (Deriu and Cieliebak 2019) has C-ADEM's term,
whole vectors in place of components, and no penalty; `adem, all components` is ADEM fitted in that way. Several
references: the mean of the scores against each.

{encoders}
## Table 2: agreement with people, line by line

n = {n}.

{agreement}

{missing}

`{set_mean}` gives every line the mean training rating of its data set: it reads not a word, and what it reaches is
what pooling sets with different means is worth. The paper reports a correlation of .27 between the length of a
response and its rating, yet says that people prefer shorter ones; `length` is what is measured here, sign included.

{behind}
*Inside data sets* is the mean of the correlations inside single sets and splits. *ADEM ahead* is the difference of
the mean correlations on the lines that both score, with p of a permutation test that swaps the two scorers'
standardised scores for whole contexts (1,000 swaps, never under .001), not corrected for the number of rows. {lead}

![Scores against ratings, the test part of the first split](lowe2017-scores.svg)

As in the paper's figure 4, noise from N(0, 0.3) was added to the ratings; each panel shows the same {shown} lines,
drawn at random from the test part of the first split (the paper's BLEU-2 and ROUGE show all data).

## Table 3: agreement over systems

A system is one name in one data set; its mean score and mean rating are over its test lines in all splits. In the
second pair of columns the mean of the data set was taken off both, so that only differences inside sets count. p
takes systems as independent.

{systems}
![Mean scores of systems against their mean ratings](lowe2017-systems.svg)

## Table 4: systems that ADEM never saw

Each system with {fewest} lines or more is left out of training and of validation once, in all sets and however they
spell it (all people are `human`), and the judge is tested on all test lines and on those of that system. Beside it the
judge that saw the system, on the same lines. The settings are those that the split chose with the system in it. In the
last row a quarter of the training lines was left out at random.

{unseen}
The paper's:

{unseen_published}
## Fewer labels

ADEM with growing shares of the contexts of training and validation, test parts whole.

{points}
![Validation error over epochs, agreement over labels](lowe2017-labels.svg)

## What was tried

Validation figures of every setting over each encoder, mean over the splits, best first: the state of the encoder, n
principal components, whether raw vectors are brought to length 1, whether training lines are over-sampled by length.
The paper has n = 50, no change of length, over-sampling. The last column says how many splits chose the setting.

<details><summary>All settings</summary>

{sweeps}
</details>

## Table 5: examples

ADEM itself cannot be shown at work here: the sets with references state no licence, or rest on dialogues that are not
free, so none of them is quoted. These are drawn at random from the sample of ConTurE in the box (Ghazarian et al.
2022, CC BY 4.0; two rated low, two between, two high), judged by the `c-adem` of the first split, which saw nothing
of ConTurE.

{excerpts}
## Speed

In this run, judges with the encoding of contexts, references and responses. The paper's supplement is not at hand.

{speed}"""


DERIU2019 = """\
# Deriu and Cieliebak 2019, AutoJudge, run anew

{made_by}

**These are other dialogues.** The paper lets five systems talk to themselves on Twitter's topics and has 5,000
replies rated by three people each; those ratings are not to be had, and the Twitter ratings of ADEM, on which the
paper models its own, were withdrawn. What follows asks the paper's questions of other rated dialogues, with other
systems, other raters and a smaller encoder. A published figure stands beside ours for orientation; neither confirms
the other.

## Data

{data}
All sets whose lines have a context and a rating of a single response; whole dialogues were left out. Copies of
references are left out: a copy is the human response once more, so with humans held out a judge would have seen in
training what it is tested on. Ratings are means over raters, brought from their scale to 1 to 5 (the paper takes one
label from three raters by MACE). Lines belong to one conversation where the data say so, and also where the whole
context, its last turn or its first two turns are the same (six words or more). People were asked different things in
different sets.

## How

score(c, r) = (c' M r - alpha) / beta over frozen vectors; M starts at the identity, alpha and beta bring the first
predictions to mean 3 and range 4 (the printed alpha = .01 and beta = 32 cannot be the scale). Adam, batch 512, step
.002 (printed is .001; twice that comes to the same validation error in half the time), no penalty, no components;
{epochs} epochs at most, of which the best by validation error is kept (the paper states no rule). Of an encoder with
two states the context state is taken.

*Conversations*: ten folds of conversations; the fold after the one held out is for validation. *Systems*: each system
with {fewest} lines or more is held out, in all sets and however they spell it (all people are `human`); a tenth of the
other lines' contexts is for validation. The held-out system's contexts do occur in training, with other systems'
responses, as in the paper. Lines whose system is not named are in training only there. Figures are means over the
folds, [low, high] the 95 % expanded percentile interval over 1,000 resamples of contexts.

{encoders}
## Table 1

{table}
`mean of the set` gives every line the mean training rating of its data set: it reads not a word, and has a
correlation only in folds with lines of several sets. *Inside data sets* is the mean of the correlations inside single
sets and folds; where a fold or set has no spread there is none. MAE is the mean absolute error in rating points of 1
to 5; it is small where ratings lie close together, as they do in means over many raters, so compare it with that of
`mean of the set`, not with the paper's. `c-adem` is the same term with 50 components and ADEM's penalty.

## AutoJudge, fold by fold

{folds}
![Agreement by fold](deriu2019-folds.svg)

## Table 3: a dialogue

{excerpts}
## What is not here

Table 2 (re-ranking) and the reinforcement learning need systems that talk and people who rate what comes out; neither
can be had from ratings that exist already.
"""

LIU2016_TABLE2 = """\
# Liu et al. 2016, How NOT To Evaluate Your Dialogue System, table 2, run anew

{made_by}

**These are other corpora and smaller models.** The paper asked its models on the Ubuntu Dialogue Corpus and on
Twitter. What follows asks its question, how near do the replies of each model come to the true response by
embedding metrics, of the corpora named above. A published figure stands below for orientation; neither confirms the
other.

{contexts} contexts: {a_dialogue} turns, drawn at random, of each of {dialogues} dialogues that no responder was
trained on ({share} of each corpus, chosen by a hash of the dialogue's opening). Retrieval models answer with
responses of the training part, so that the true response is among their candidates only where somebody else said it
too. Models that write do so by beam search, width 5, without `<unk>`, and a VHRED draws its latent variable from
the prior. [low, high] is the 95 % expanded percentile interval over 1,000 resamples of dialogues; n are the
replies.

Average, greedy and extrema compare a reply with the true response (Liu et al. 2016, section 3.2; unit vectors, the
word vectors in the box). The judge in the box reads context and reply alone, so that people's own replies, the row
`human`, can be judged by it too. Its encoder was trained to tell which response answers which context, as the dual
encoder was, on other dialogues of most of the same corpora: it may be kind to that one.

{tables}

![Means with their intervals](liu2016-table2-means.svg)

The paper's section 4.3 warns of what such a table suggests: the metrics hardly agree with people
(`rejoinder study`), and the judge agrees with them but a little more (`rejoinder show rejoinder`).

### As published

{published}

## The models

Perplexity is per piece of the byte-pair encoding, of the held-out turns, at the end of training (of a VHRED a
bound; of a MrRNN that of words and coarse sequences together, per piece of the words). Recall@k: the true response
among nine of other dialogues, drawn at random from all corpora. Distinct-n: different n-grams among all n-grams of
the replies (Li et al. 2016). Length is in words.

{models}
## Replies, unedited

Evenly spread over the contexts; the last two turns of each. The dialogues are quoted from the corpora named above
and stay under their licences.

{quoted}

## Signatures

{signatures}"""
