"""The dimensions of the first generation (CosyVoice-300M), as its yaml states them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from cosykit.convert.facts import Facts, read_facts
from cosykit.errors import ModelLoadError

_MOST_LAYERS = 200
# What the engines know of the vocoder, and no fine-tuning changes.
_SAMPLE_RATE, _HARMONICS, _SAMPLES_PER_FRAME = 22_050, 8, 256


@dataclass(frozen=True, slots=True)
class EncoderDimensions:
    """A stack of attention layers.

    Attributes:
        inputs: Channels of what enters.
        size: Channels inside and at the end.
        heads: Attention heads.
        hidden: Channels inside the feed-forward parts.
        layers: How many layers.
    """

    inputs: int
    size: int
    heads: int
    hidden: int
    layers: int


@dataclass(frozen=True, slots=True)
class LanguageModelDimensions:
    """From text and speaker to speech tokens.

    Attributes:
        text_vocabulary: Rows of the text embedding.
        speech_vocabulary: Speech tokens; the end token follows them.
        speaker: Length of a speaker vector.
        text_encoder: The encoder of the text.
        decoder: The transformer that predicts.
    """

    text_vocabulary: int
    speech_vocabulary: int
    speaker: int
    text_encoder: EncoderDimensions
    decoder: EncoderDimensions


@dataclass(frozen=True, slots=True)
class EstimatorDimensions:
    """The network that says where a noisy mel should flow.

    Attributes:
        mels: Channels of a mel.
        channels: Channels of each level.
        blocks: Attention blocks after each residual block.
        middle: Residual blocks between the way down and the way up.
        heads: Attention heads.
        head_size: Channels of a head.
    """

    mels: int
    channels: Sequence[int]
    blocks: int
    middle: int
    heads: int
    head_size: int


@dataclass(frozen=True, slots=True)
class FlowDimensions:
    """From speech tokens to a mel.

    Attributes:
        speech_vocabulary: Rows of the token embedding.
        speaker: Length of a speaker vector.
        token_rate: Speech tokens a second.
        mels: Channels of a mel.
        encoder: The encoder of the tokens.
        regulator_layers: Convolutions after the stretching to mel frames.
        estimator: The network of the flow.
    """

    speech_vocabulary: int
    speaker: int
    token_rate: int
    mels: int
    encoder: EncoderDimensions
    regulator_layers: int
    estimator: EstimatorDimensions


@dataclass(frozen=True, slots=True)
class VocoderDimensions:
    """From a mel to samples.

    Attributes:
        sample_rate: Samples a second.
        mels: Channels of a mel.
        channels: Channels before the first upsampling; each halves them.
        harmonics: Overtones of the source.
        sine_amplitude: Amplitude of the source's sines.
        noise_deviation: Standard deviation of the noise on voiced samples.
        voiced_above_hz: Pitch above which a frame counts as voiced.
        rates: Factor of each upsampling.
        kernels: Kernel size of each upsampling.
        fft: Length of the Fourier transform at the end.
        fft_hop: Samples from one transform to the next.
        block_kernels: Kernel size of each residual block of a level.
        block_dilations: Dilations of each of them.
        source_kernels: Kernel size of the source's residual block at each level.
        source_dilations: Dilations of each of them.
        slope: Slope of the leaky ReLU below zero.
        limit: Greatest absolute sample.
        pitch_channels: Channels of the pitch predictor.
    """

    sample_rate: int
    mels: int
    channels: int
    harmonics: int
    sine_amplitude: float
    noise_deviation: float
    voiced_above_hz: float
    rates: Sequence[int]
    kernels: Sequence[int]
    fft: int
    fft_hop: int
    block_kernels: Sequence[int]
    block_dilations: Sequence[Sequence[int]]
    source_kernels: Sequence[int]
    source_dilations: Sequence[Sequence[int]]
    slope: float
    limit: float
    pitch_channels: int

    @property
    def samples_per_frame(self) -> int:
        """Samples that a mel frame becomes."""
        return prod(self.rates) * self.fft_hop


@dataclass(frozen=True, slots=True)
class Dimensions:
    """A whole model."""

    lm: LanguageModelDimensions
    flow: FlowDimensions
    vocoder: VocoderDimensions


def read_dimensions(path: Path) -> Dimensions:
    """Read the dimensions from a `cosyvoice.yaml`.

    Raises:
        ModelLoadError: The file is broken or describes another architecture.
    """
    facts = read_facts(path)
    return Dimensions(
        lm=_language_model(_checked(facts.section("llm"), "TransformerLM")),
        flow=_flow(_checked(facts.section("flow"), "MaskedDiffWithXvec")),
        vocoder=_vocoder(_checked(facts.section("hift"), "HiFTGenerator")),
    )


def _checked(facts: Facts, class_name: str) -> Facts:
    if facts.class_name != class_name:
        raise ModelLoadError(
            f"{facts.place.rstrip('.')} is a {facts.class_name}, not a {class_name}",
            hint="This converter knows CosyVoice-300M and models fine-tuned from it",
        )
    return facts


def _encoder(facts: Facts) -> EncoderDimensions:
    sizes = EncoderDimensions(
        inputs=facts.integer("input_size"),
        size=facts.integer("output_size"),
        heads=facts.integer("attention_heads"),
        hidden=facts.integer("linear_units"),
        layers=facts.integer("num_blocks", _MOST_LAYERS),
    )
    if sizes.size % (2 * sizes.heads):
        raise facts.wrong("attention_heads", f"no even part of {sizes.size} channels")
    return sizes


def _language_model(facts: Facts) -> LanguageModelDimensions:
    return LanguageModelDimensions(
        text_vocabulary=facts.integer("text_token_size"),
        speech_vocabulary=facts.integer("speech_token_size"),
        speaker=facts.integer("spk_embed_dim"),
        text_encoder=_encoder(facts.section("text_encoder")),
        decoder=_encoder(facts.section("llm")),
    )


def _flow(facts: Facts) -> FlowDimensions:
    estimator = facts.section("decoder", "estimator")
    return FlowDimensions(
        speech_vocabulary=facts.integer("vocab_size"),
        speaker=facts.integer("spk_embed_dim"),
        token_rate=facts.integer("input_frame_rate"),
        mels=facts.integer("output_size"),
        encoder=_encoder(facts.section("encoder")),
        regulator_layers=len(
            facts.section("length_regulator").integers("sampling_ratios")
        ),
        estimator=EstimatorDimensions(
            mels=estimator.integer("out_channels"),
            channels=estimator.integers("channels"),
            blocks=estimator.integer("n_blocks", _MOST_LAYERS),
            middle=estimator.integer("num_mid_blocks", _MOST_LAYERS),
            heads=estimator.integer("num_heads"),
            head_size=estimator.integer("attention_head_dim"),
        ),
    )


def _vocoder(facts: Facts) -> VocoderDimensions:
    fourier = facts.section("istft_params")
    sizes = VocoderDimensions(
        sample_rate=facts.integer("sampling_rate"),
        mels=facts.integer("in_channels"),
        channels=facts.integer("base_channels"),
        harmonics=facts.integer("nb_harmonics"),
        sine_amplitude=facts.number("nsf_alpha"),
        noise_deviation=facts.number("nsf_sigma"),
        voiced_above_hz=facts.number("nsf_voiced_threshold"),
        rates=facts.integers("upsample_rates"),
        kernels=facts.integers("upsample_kernel_sizes"),
        fft=fourier.integer("n_fft"),
        fft_hop=fourier.integer("hop_len"),
        block_kernels=facts.integers("resblock_kernel_sizes"),
        block_dilations=facts.rows("resblock_dilation_sizes"),
        source_kernels=facts.integers("source_resblock_kernel_sizes"),
        source_dilations=facts.rows("source_resblock_dilation_sizes"),
        slope=facts.number("lrelu_slope"),
        limit=facts.number("audio_limit"),
        pitch_channels=facts.section("f0_predictor").integer("cond_channels"),
    )
    _check_vocoder(facts, sizes)
    return sizes


def _check_vocoder(facts: Facts, sizes: VocoderDimensions) -> None:
    """Make sure that what is said of the vocoder fits together."""
    for name, number, only in (
        ("sampling_rate", sizes.sample_rate, _SAMPLE_RATE),
        ("nb_harmonics", sizes.harmonics, _HARMONICS),
        ("upsample_rates by hop_len", sizes.samples_per_frame, _SAMPLES_PER_FRAME),
    ):
        if number != only:
            raise facts.wrong(name, f"{number}, not {only}")
    levels = len(sizes.rates)
    for name, count, expected in (
        ("upsample_kernel_sizes", len(sizes.kernels), levels),
        ("source_resblock_kernel_sizes", len(sizes.source_kernels), levels),
        ("source_resblock_dilation_sizes", len(sizes.source_dilations), levels),
        (
            "resblock_dilation_sizes",
            len(sizes.block_dilations),
            len(sizes.block_kernels),
        ),
    ):
        if count != expected:
            raise facts.wrong(name, f"a list of {count}, not of {expected}")
    if sizes.channels % 2**levels:
        raise facts.wrong("base_channels", f"not to be halved {levels} times")
    for rate, kernel in zip(sizes.rates, sizes.kernels, strict=True):
        if kernel < rate or (kernel - rate) % 2:
            raise facts.wrong(
                "upsample_kernel_sizes", f"no kernel for a rate of {rate}"
            )
