"""Records what transformers' Qwen2-VL image processor makes of pictures, for test/model/image-parity.test.ts.

    pip install torch transformers "pillow>=13"
    python scripts/reference/record-qwen-pictures.py test/model/fixtures/pictures.json
    python scripts/reference/record-qwen-pictures.py --photographs FOLDER test/model/fixtures/photographs.json
    python scripts/reference/record-qwen-pictures.py --photographs FOLDER hashes.json PIXELS

The first form makes small pictures of every kind a folder of photographs has, and keeps them with the result;
it also keeps sizes from `smart_resize`. The second reads photographs, which are not part of the repository
(../shared/data/photos in the committed hashes), and writes a hash of each one's resized bytes. The third also
writes the bytes, for JPEG photographs, whose decoders may differ by a rounding: with QPONDER_PHOTOGRAPHS=FOLDER
and QPONDER_PHOTOGRAPH_PIXELS=PIXELS the test compares every one of them.

Before the processor a picture is turned by its orientation tag, laid on white where it is transparent (as
qwen_vl_utils does; transformers alone drops alpha) and converted to RGB by Pillow, which applies no profile.
Grey of 16 bits is reduced to its high byte, where Pillow's conversion would make nearly all of it white.
"""

import base64
import hashlib
import io
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from transformers.models.qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

SMALL = {"patch_size": 4, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": 64, "max_pixels": 512}
RELEASED = {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2, "min_pixels": 3136, "max_pixels": 12845056}
LIMITS = [(3136, 12845056), (3136, 1003520), (200704, 12845056), (784, 3136)]
SIDES = [1, 5, 13, 14, 15, 27, 41, 42, 43, 70, 97, 126, 255, 512, 768, 1001, 2000, 4000]


def opened(image: Image.Image) -> Image.Image:
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16"):
        # Pillow's own conversion takes all above 255 for white.
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        white = Image.new("RGB", rgba.size, (255, 255, 255))
        white.paste(rgba, mask=rgba.getchannel("A"))
        return white
    return image.convert("RGB")


def codes(processor: Qwen2VLImageProcessorPil, values: np.ndarray) -> np.ndarray:
    """Patches [rows, 3, frames, side, side] as the 8-bit values they were before normalisation; one frame."""
    side = processor.patch_size
    patches = values.reshape(len(values), 3, processor.temporal_patch_size, side, side)
    assert (patches[:, :, 0] == patches[:, :, 1]).all()
    mean, std = (np.array(v).reshape(1, 3, 1, 1) for v in (processor.image_mean, processor.image_std))
    exact = (patches[:, :, 0] * std + mean) * 255
    rounded = np.rint(exact)
    assert np.abs(exact - rounded).max() < 1e-3
    return rounded.astype(np.uint8)


def scene(width: int, height: int) -> np.ndarray:
    """Gradients, a bright disc and a dark edge: smooth parts and jumps that resampling must treat alike."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    red = 255 * x / max(1, width - 1)
    green = 255 * y / max(1, height - 1)
    blue = 127.5 + 127.5 * np.sin((x + 2 * y) / 3)
    rgb = np.stack([red, green, blue], axis=-1)
    rgb[(x - width / 3) ** 2 + (y - height / 2) ** 2 < (min(width, height) / 4) ** 2] = (250, 240, 20)
    rgb[:, width * 3 // 4 : width * 3 // 4 + 1] = (5, 0, 30)
    return rgb.round().astype(np.uint8)


def encoded(image: Image.Image, kind: str, **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def pictures() -> dict[str, bytes]:
    rgb = Image.fromarray(scene(29, 21))
    alpha = Image.fromarray(np.linspace(0, 255, 29 * 21).round().astype(np.uint8).reshape(21, 29))
    rgba = rgb.copy()
    rgba.putalpha(alpha)
    grey = rgb.convert("L")
    grey_alpha = Image.merge("LA", (grey, alpha))
    palette = rgb.quantize(13)
    holed = rgb.quantize(13)
    holed.info["transparency"] = 0
    deep = Image.fromarray((np.asarray(grey).astype(np.uint16) * 257) ^ 0x0055)
    second = ImageOps.invert(rgb)
    noise = Image.fromarray(np.random.default_rng(3).integers(0, 256, (19, 26, 3), dtype=np.uint8))
    made = {
        "png": encoded(rgb, "PNG"),
        "png noise": encoded(noise, "PNG"),
        "png of its final size": encoded(Image.fromarray(scene(24, 16)), "PNG"),
        "png enlarged": encoded(Image.fromarray(scene(5, 3)), "PNG"),
        "png with alpha": encoded(rgba, "PNG"),
        "png grey": encoded(grey, "PNG"),
        "png grey with alpha": encoded(grey_alpha, "PNG"),
        "png of one bit": encoded(grey.convert("1"), "PNG"),
        "png palette": encoded(palette, "PNG"),
        "png palette with a transparent entry": encoded(holed, "PNG", transparency=0),
        "png interlaced wide": encoded(Image.fromarray(scene(90, 4)), "PNG"),
        "png 16-bit grey": encoded(deep, "PNG"),
        "jpeg 4:4:4": encoded(rgb, "JPEG", quality=95, subsampling=0),
        "jpeg 4:2:0": encoded(rgb, "JPEG", quality=80, subsampling=2),
        "jpeg progressive": encoded(rgb, "JPEG", quality=85, progressive=True),
        "jpeg grey": encoded(grey, "JPEG", quality=90),
        "jpeg cmyk": encoded(rgb.convert("CMYK"), "JPEG", quality=95),
        "tiff cmyk": encoded(rgb.convert("CMYK"), "TIFF", compression="tiff_lzw"),
        "tiff": encoded(rgb, "TIFF", compression="tiff_lzw"),
        "webp lossless with alpha": encoded(rgba, "WEBP", lossless=True),
        "webp": encoded(rgb, "WEBP", quality=80),
        "gif": encoded(palette, "GIF"),
        "gif animated": encoded(rgb.quantize(13), "GIF", save_all=True, append_images=[second.quantize(13)]),
        "webp animated": encoded(rgb, "WEBP", lossless=True, save_all=True, append_images=[second]),
        "bmp": encoded(Image.fromarray(scene(9, 9)), "BMP"),
        "one pixel": encoded(Image.new("RGB", (1, 1), (12, 200, 99)), "PNG"),
        "one row": encoded(Image.fromarray(scene(40, 1)), "PNG"),
        "one column": encoded(Image.fromarray(scene(1, 40)), "PNG"),
    }
    for orientation in range(2, 9):
        exif = Image.Exif()
        exif[274] = orientation
        made[f"orientation {orientation}"] = encoded(Image.fromarray(scene(19, 12)), "PNG", exif=exif)
    return made


def sixteen_bits() -> bytes:
    """An RGB PNG of 16 bits, which Pillow cannot write: chunks by hand."""
    rgb = scene(29, 21).astype(np.uint16) * 256 + 77
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in rgb)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 29, 21, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def record_small(target: Path) -> None:
    processor = Qwen2VLImageProcessorPil(**SMALL)
    rows = []
    for name, data in {**pictures(), "png 16-bit": sixteen_bits()}.items():
        image = opened(Image.open(io.BytesIO(data)))
        result = processor([image], return_tensors="np")
        rows.append({
            "name": name,
            "file": base64.b64encode(data).decode(),
            "grid": result["image_grid_thw"][0].tolist(),
            "codes": base64.b64encode(codes(processor, result["pixel_values"]).tobytes()).decode(),
        })  # fmt: skip
    sizes = []
    for least, most in LIMITS:
        for height in SIDES:
            for width in SIDES:
                if max(height, width) <= 200 * min(height, width):
                    sizes.append([least, most, height, width, *smart_resize(height, width, 28, least, most)])
    # Every seventh keeps the file small and still meets each side.
    result = {"processor": SMALL, "pictures": rows, "sizes": sizes[::7]}
    target.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    print(len(rows), "pictures,", len(sizes[::7]), "sizes")


def record_photographs(folder: Path, target: Path, pixels: Path | None) -> None:
    # Reduced for a miniature, nearly kept, and enlarged.
    kinds = {"reduced": (3136, 50176), "released": (3136, 12845056), "enlarged": (600000, 12845056)}
    hashes: dict[str, dict[str, str]] = {}
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {".png", ".jpg", ".jpeg"})
    for path in paths:
        name = path.relative_to(folder).as_posix()
        image = opened(Image.open(path))
        for kind, (least, most) in kinds.items():
            height, width = smart_resize(image.height, image.width, 28, least, most)
            processor = Qwen2VLImageProcessorPil(**{**RELEASED, "min_pixels": least, "max_pixels": most})
            resized = np.asarray(image.resize((width, height), Image.Resampling.BICUBIC))
            values = processor([image], return_tensors="np")["pixel_values"]
            # The processor's patches are this very picture: the test cuts it into patches itself.
            unit = resized.reshape(height // 28, 2, 14, width // 28, 2, 14, 3).transpose(0, 3, 1, 4, 6, 2, 5)
            assert (codes(processor, values) == unit.reshape(-1, 3, 14, 14)).all()
            if path.suffix.lower() == ".png":
                # Decoding is exact, so bytes can be compared; 64 bits of the hash tell a difference.
                hashes.setdefault(name, {})[kind] = hashlib.sha256(resized.tobytes()).hexdigest()[:16]
            if pixels is not None:
                file = pixels / kind / f"{name}.rgb"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(resized.tobytes())
    if hashes:
        target.write_text(json.dumps(hashes, indent=1) + "\n")
    print(len(paths), "photographs,", len(hashes), "with hashes")


if sys.argv[1] == "--photographs":
    record_photographs(Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]) if len(sys.argv) > 4 else None)
else:
    record_small(Path(sys.argv[1]))
